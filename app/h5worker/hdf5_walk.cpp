// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/h5worker/hdf5_walk.h"

#include "app/h5worker/hdf5_datasets.h"
#include "app/h5worker/hdf5_links.h"
#include "app/h5worker/hdf5_values.h"

#include <map>

namespace forkpoint {

namespace {

constexpr std::size_t LinkTextBytes = 1u << 16;

std::string printed(const Hdf5Path &path)
{
    std::string text;
    for (const std::string &name : path)
        text += "/" + name;
    return text.empty() ? "/" : text;
}

class Walk
{
public:
    Walk(WorkerLink &link, const Hdf5Handle &file) : m_link(link), m_file(file) {}

    void tellAll()
    {
        enter(Hdf5Handle(H5Gopen2(m_file.get(), "/", H5P_DEFAULT)));
        while (!m_open.empty()) {
            Group &group = m_open.back();
            if (group.next == group.links.size()) {
                m_open.pop_back();
                if (!m_open.empty())
                    m_path.pop_back();
                continue;
            }
            const Hdf5Link &link = group.links[group.next];
            m_path.push_back(link.name);
            const std::size_t depth = m_open.size();
            visit(group.handle, link, group.next++);
            H5Eclear2(H5E_DEFAULT);
            if (m_open.size() == depth)
                m_path.pop_back();
        }
    }

private:
    struct Group
    {
        Hdf5Handle handle;
        std::vector<Hdf5Link> links;
        std::size_t next = 0;
    };

    void complain(ErrorCode code, std::string text, bool isDataset = false)
    {
        m_link.tell(Hdf5Problem{Severity::Error, code, m_path, isDataset, true, std::move(text)});
    }

    void enter(Hdf5Handle group)
    {
        H5O_info_t info = {};
        if (!group.valid() || H5Oget_info2(group.get(), &info, H5O_INFO_BASIC) < 0)
            return complain(ErrorCode::Malformed, hdf5Failure());
        const auto [known, isNew] = m_groups.try_emplace(info.addr, printed(m_path));
        if (!isNew) {
            m_link.tell(Hdf5Value{m_path, {}, false, Hdf5Value::Link{known->second}});
            return;
        }
        if (m_open.size() == GroupDepth)
            return complain(ErrorCode::Limit,
                            "groups may lie at most " + std::to_string(GroupDepth) + " deep");
        tellAttributes(m_link, group, m_path);
        Hdf5Listing listing = listLinks(group.get());
        switch (listing.end) {
        case Hdf5Listing::End::Whole: break;
        case Hdf5Listing::End::Failed:
            complain(ErrorCode::Malformed, "the group cannot be listed: " + hdf5Failure());
            break;
        case Hdf5Listing::End::Unordered:
            complain(ErrorCode::Malformed,
                     "the group's links are not in order: not all are listed");
            break;
        case Hdf5Listing::End::Full:
            complain(ErrorCode::Limit, "the group has more links than are listed");
        }
        m_open.push_back({std::move(group), std::move(listing.links), 0});
    }

    /// `link` is lost once its object is a group that was entered.
    void visit(const Hdf5Handle &group, const Hdf5Link &link, std::size_t place)
    {
        switch (link.type) {
        case H5L_TYPE_HARD: return visitObject(link.address);
        case H5L_TYPE_SOFT: return tellSoftLink(group, link, place);
        case H5L_TYPE_EXTERNAL: return tellExternalLink(group, link, place);
        default: return complain(ErrorCode::Unsupported, "is a link of a kind that is not known");
        }
    }

    void visitObject(haddr_t address)
    {
        Hdf5Handle object(H5Oopen_by_addr(m_file.get(), address));
        if (!object.valid())
            return complain(ErrorCode::Malformed, hdf5Failure(), true);
        switch (H5Iget_type(object.get())) {
        case H5I_GROUP: return enter(std::move(object));
        case H5I_DATASET:
            tellDataset(m_link, object, m_path, address);
            return tellAttributes(m_link, object, m_path);
        default: tellType(m_link, object, m_path); return tellAttributes(m_link, object, m_path);
        }
    }

    std::string linkText(const Hdf5Handle &group, const Hdf5Link &link, std::size_t place)
    {
        std::string text(std::min(link.size, LinkTextBytes) + 1, '\0');
        if (H5Lget_val_by_idx(group.get(), ".", H5_INDEX_NAME, H5_ITER_INC, place, text.data(),
                              text.size() - 1, H5P_DEFAULT)
            < 0)
            return {};
        return text;
    }

    void tellSoftLink(const Hdf5Handle &group, const Hdf5Link &link, std::size_t place)
    {
        m_link.tell(
            Hdf5Value{m_path, {}, false, Hdf5Value::Link{linkText(group, link, place).c_str()}});
    }

    void tellExternalLink(const Hdf5Handle &group, const Hdf5Link &link, std::size_t place)
    {
        const std::string text = linkText(group, link, place);
        const char *file = nullptr, *object = nullptr;
        unsigned flags = 0;
        const bool isKnown =
            H5Lunpack_elink_val(text.data(), text.size() - 1, &flags, &file, &object) >= 0;
        const std::string target = isKnown ? std::string(file) + ":" + object : "?";
        m_link.tell(Hdf5Value{m_path, {}, false, Hdf5Value::Link{target}});
        m_link.tell(Hdf5Problem{Severity::Warning, ErrorCode::Refused, m_path, false, false,
                                "an external link ('" + target + "') is shown, and not followed"});
    }

    WorkerLink &m_link;
    const Hdf5Handle &m_file;
    std::vector<Group> m_open;
    Hdf5Path m_path;
    std::map<haddr_t, std::string> m_groups; ///< where each group was met first
};

} // namespace

void tellFile(WorkerLink &link, const Hdf5Handle &file)
{
    Walk(link, file).tellAll();
}

} // namespace forkpoint
