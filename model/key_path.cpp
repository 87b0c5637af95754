// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/key_path.h"

#include "model/pairing/repeated_names.h"
#include "model/text/utf8.h"

#include <unordered_map>
#include <unordered_set>

namespace forkpoint {

std::string Key::toString() const
{
    if (kind == Kind::Integer && text.empty())
        return std::to_string(number);
    return escapeInvalidUtf8(text);
}

std::string KeyPath::toString(std::string_view separator) const
{
    std::string result;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i > 0)
            result += separator;
        result += keys[i].toString();
    }
    return result;
}

KeyPath KeyPath::child(Key key) const
{
    KeyPath result = *this;
    result.keys.push_back(std::move(key));
    return result;
}

std::string escapeInvalidUtf8(std::string_view text)
{
    std::string result;
    std::size_t i = 0;
    while (i < text.size()) {
        const std::size_t length = utf8Length(text.substr(i));
        if (length > 0) {
            result += text.substr(i, length);
            i += length;
            continue;
        }
        static constexpr char Digits[] = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(text[i++]);
        result += "\\x";
        result += Digits[byte >> 4];
        result += Digits[byte & 15];
    }
    return result;
}

void makeNamesUnique(std::vector<std::string *> names)
{
    if (!mayRepeatNames(names, [](const std::string *name) { return std::string_view(*name); }))
        return;
    std::unordered_set<std::string> taken;
    std::vector<std::string *> repeated;
    for (std::string *name : names) {
        if (!taken.insert(*name).second)
            repeated.push_back(name);
    }
    // All numbers of a name below its next one are taken: together the searches take linear time.
    std::unordered_map<std::string, std::size_t> next;
    for (std::string *name : repeated) {
        for (std::size_t &number = next.try_emplace(*name, 2).first->second;;) {
            std::string candidate = *name + "#" + std::to_string(number++);
            if (taken.insert(candidate).second) {
                *name = std::move(candidate);
                break;
            }
        }
    }
}

} // namespace forkpoint
