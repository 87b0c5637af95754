// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_names.h"

#include "app/h5worker/hdf5_elements.h"
#include "app/h5worker/hdf5_handle.h"
#include "app/h5worker/hdf5_links.h"

#include <unordered_map>
#include <vector>

namespace forkpoint {

namespace {

/// Objects whose names are kept; of others libhdf5 is asked.
constexpr std::size_t KeptNames = 1'000'000;

/// By which link each object is met first. Names of groups are kept once, not in each path.
class FirstLinks
{
public:
    explicit FirstLinks(hid_t file) : m_file(file)
    {
        Hdf5Handle root(H5Gopen2(file, "/", H5P_DEFAULT));
        H5O_info_t info = {};
        if (!root.valid() || H5Oget_info2(root.get(), &info, H5O_INFO_BASIC) < 0)
            return;
        m_names[info.addr] = {};
        enter(info.addr, root);
        while (!m_open.empty()) {
            Group &group = m_open.back();
            if (group.next == group.links.size())
                m_open.pop_back();
            else
                visit(group.address, group.links[group.next++]);
        }
        H5Eclear2(H5E_DEFAULT);
    }

    bool isFull() const { return m_names.size() == KeptNames; }

    std::string path(haddr_t address) const
    {
        std::string path;
        auto name = m_names.find(address);
        if (name == m_names.end())
            return {};
        for (; name->second.group != HADDR_UNDEF; name = m_names.find(name->second.group))
            path.insert(0, '/' + name->second.text);
        return path.empty() ? "/" : path;
    }

private:
    struct Name
    {
        haddr_t group = HADDR_UNDEF; ///< of all but the root group
        std::string text;
    };
    struct Group
    {
        haddr_t address = HADDR_UNDEF;
        std::vector<Hdf5Link> links;
        std::size_t next = 0;
    };

    void enter(haddr_t address, const Hdf5Handle &group)
    {
        m_open.push_back({address, listLinks(group.get()).links, 0});
    }

    /// `link` is lost once its object is a group that was entered.
    void visit(haddr_t group, const Hdf5Link &link)
    {
        if (link.type != H5L_TYPE_HARD || isFull()
            || !m_names.try_emplace(link.address, Name{group, link.name}).second)
            return;
        const haddr_t address = link.address;
        const Hdf5Handle object(H5Oopen_by_addr(m_file, address));
        if (object.valid() && H5Iget_type(object.get()) == H5I_GROUP && m_open.size() < GroupDepth)
            enter(address, object);
    }

    hid_t m_file;
    std::vector<Group> m_open;
    std::unordered_map<haddr_t, Name> m_names;
};

std::string nameByLibrary(haddr_t address, hid_t file)
{
    const Hdf5Handle object(H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &address));
    const ssize_t length = object.valid() ? H5Iget_name(object.get(), nullptr, 0) : 0;
    std::string name;
    if (length > 0 && std::uint64_t(length) <= ElementBytes) {
        name.resize(std::size_t(length) + 1);
        H5Iget_name(object.get(), name.data(), name.size());
        name.pop_back();
    }
    H5Eclear2(H5E_DEFAULT);
    return name;
}

} // namespace

std::string listedPath(haddr_t address, hid_t file)
{
    static const FirstLinks names(file);
    const std::string path = names.path(address);
    if (path.empty() && names.isFull())
        return nameByLibrary(address, file);
    return path.size() <= ElementBytes ? path : std::string();
}

} // namespace forkpoint
