// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/sharded/nemo_loader.h"

#include "loaders/storage/tar_directory.h"

#include <algorithm>
#include <array>

namespace forkpoint {

namespace {

/// Text of a configuration that is shown; longer ones are by digest.
constexpr std::uint64_t TextBytes = std::uint64_t(1) << 20;
constexpr std::string_view WeightsStem = "model_weights";

bool isWeights(std::string_view name)
{
    constexpr std::array<std::string_view, 4> Endings = {".ckpt", ".pt", ".pth", ".safetensors"};
    return std::any_of(Endings.begin(), Endings.end(),
                       [name](std::string_view ending) { return name.ends_with(ending); });
}

bool isText(std::string_view name)
{
    return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

/// Names are shown, and never opened as paths; those that would lead elsewhere are told.
bool leadsAway(std::string_view name)
{
    return name.starts_with('/') || name == ".." || name.starts_with("../")
        || name.find("/../") != std::string_view::npos || name.ends_with("/..");
}

/// "mp_rank_00/model_weights.ckpt": the folders, and the stem unless it is the weights'.
KeyPath prefixOf(const std::string &name)
{
    KeyPath path;
    std::size_t begin = 0;
    for (std::size_t slash; (slash = name.find('/', begin)) != std::string::npos; begin = slash + 1)
        path.keys.push_back(Key::of(name.substr(begin, slash - begin)));
    const std::string stem = name.substr(begin, name.rfind('.') - begin);
    if (stem != WeightsStem)
        path.keys.push_back(Key::of(stem));
    return path;
}

class Archive
{
public:
    Archive(std::shared_ptr<const ByteSource> tar, const OpenOptions &options, std::stop_token stop,
            CheckpointBuilder &builder)
        : m_tar(std::move(tar)),
          m_options(options),
          m_stop(std::move(stop)),
          m_builder(builder)
    {
    }

    Status list()
    {
        FP_TRY(const auto members, readTarDirectory(*m_tar));
        for (const TarMember &member : members) {
            if (m_stop.stop_requested())
                return Error{ErrorCode::Cancelled, m_tar->name(), {}, "cancelled"};
            add(member);
        }
        if (m_opened > 0)
            return {};
        return m_firstError.value_or(
            Error{ErrorCode::NotFound, m_tar->name(), {}, "holds no weights"});
    }

private:
    void tell(Severity severity, std::string_view code, const TarMember &member, std::string text)
    {
        m_builder.addDiagnostic({severity, std::string(code), m_tar->name(),
                                 "member '" + escapeInvalidUtf8(member.name) + "'",
                                 std::move(text)});
    }

    void add(const TarMember &member)
    {
        if (member.kind == TarMember::Kind::Directory)
            return;
        if (leadsAway(member.name))
            return tell(Severity::Warning, "refused", member, "leads out of the archive");
        if (member.kind == TarMember::Kind::Link)
            return tell(Severity::Warning, "link", member, "a link, not followed");
        if (member.kind == TarMember::Kind::Special)
            return tell(Severity::Warning, "special-file", member, "no regular file, not opened");
        if (isWeights(member.name))
            return addWeights(member);
        if (isText(member.name))
            return addText(member);
        if (member.name.ends_with(".distcp")) {
            m_builder.setIncomplete();
            return tell(Severity::Error, "unsupported", member,
                        "a distributed checkpoint inside an archive; unpack it to open it");
        }
        tell(Severity::Note, "ignored", member, "not opened");
    }

    Result<std::shared_ptr<const ByteSource>> window(const TarMember &member) const
    {
        FP_TRY(auto part, WindowSource::make(m_tar, member.offset, member.size, m_tar->name()));
        return std::shared_ptr<const ByteSource>(std::move(part));
    }

    void addWeights(const TarMember &member)
    {
        auto source = window(member);
        auto loaded = source.ok() ? loadFile(std::move(source).value(), m_options, m_stop)
                                  : Result<LoadedFile>(source.error());
        if (!loaded.ok()) {
            const Error error =
                Error(loaded.error()).atPlace("member '" + escapeInvalidUtf8(member.name) + "'");
            m_firstError = m_firstError.value_or(error);
            m_builder.addDiagnostic(error, Severity::Error);
            m_builder.setIncomplete();
            return;
        }
        ++m_opened;
        m_builder.merge(std::move(loaded->builder), prefixOf(member.name));
    }

    void addText(const TarMember &member)
    {
        const auto bytes = readAll(*m_tar, member.offset, member.size, TextBytes);
        if (!bytes.ok())
            return tell(Severity::Warning, toString(bytes.error().code), member,
                        bytes.error().text);
        m_builder.addValue({{{Key::of(member.name)}},
                            {},
                            StateClass::Recipe,
                            Value::text(escapeInvalidUtf8(asText(*bytes))),
                            m_tar->name()});
    }

    std::shared_ptr<const ByteSource> m_tar;
    const OpenOptions &m_options;
    std::stop_token m_stop;
    CheckpointBuilder &m_builder;
    std::size_t m_opened = 0;
    std::optional<Error> m_firstError;
};

/// The tar itself, or inside gzip; nothing where it is neither.
Result<std::shared_ptr<const ByteSource>> tarOf(std::shared_ptr<const ByteSource> source)
{
    std::array<std::byte, 512> head{};
    if (source->size() < head.size())
        return Error{ErrorCode::Truncated, source->name(), {}, "is shorter than a tar header"};
    FP_CHECK(source->read(0, head));
    if (isGzip(head)) {
        FP_TRY(source, openGzip(std::move(source)));
        FP_CHECK(source->read(0, head));
    }
    if (!isTar(head))
        return Error{ErrorCode::Malformed, source->name(), {}, "must hold a tar, does not"};
    return source;
}

class NemoLoader final : public Loader
{
public:
    std::string_view name() const override { return "nemo"; }
    std::string_view description() const override
    {
        return "NeMo archives (.nemo): tar, also gzipped";
    }
    Confidence probe(ByteView head, const ByteSource &source) const override
    {
        if (!isTar(head) && !isGzip(head))
            return Confidence::No;
        // The probe owns nothing: a source that does not outlive this call.
        const std::shared_ptr<const ByteSource> borrowed(std::shared_ptr<void>(), &source);
        const auto tar = tarOf(borrowed);
        return tar.ok() ? Confidence::Maybe : Confidence::No;
    }
    Status load(std::shared_ptr<const ByteSource> source, const OpenOptions &options,
                std::stop_token stop, CheckpointBuilder &builder) const override
    {
        FP_TRY(auto tar, tarOf(std::move(source)));
        return Archive(std::move(tar), options, std::move(stop), builder).list();
    }
};

} // namespace

const Loader &nemoLoader()
{
    static const NemoLoader loader;
    return loader;
}

} // namespace forkpoint
