// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>

#include <hdf5.h>

namespace forkpoint {

/// An identifier of libhdf5, released when it goes.
class Hdf5Handle
{
public:
    explicit Hdf5Handle(hid_t id = H5I_INVALID_HID) : m_id(id) {}
    Hdf5Handle(Hdf5Handle &&other) noexcept : m_id(std::exchange(other.m_id, H5I_INVALID_HID)) {}
    Hdf5Handle &operator=(Hdf5Handle &&other) noexcept
    {
        std::swap(m_id, other.m_id);
        return *this;
    }
    ~Hdf5Handle()
    {
        if (m_id >= 0)
            H5Idec_ref(m_id);
    }

    hid_t get() const { return m_id; }
    bool valid() const { return m_id >= 0; }

private:
    hid_t m_id;
};

/// What libhdf5 says of the call that just failed: its innermost message.
inline std::string hdf5Failure()
{
    std::string text;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned number, const H5E_error2_t *error, void *data) -> herr_t {
            if (number == 0 && error->desc != nullptr)
                *static_cast<std::string *>(data) = error->desc;
            return 0;
        },
        &text);
    H5Eclear2(H5E_DEFAULT);
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    const std::string library = "libhdf5 " + std::to_string(major) + '.' + std::to_string(minor)
        + '.' + std::to_string(release);
    if (text.empty())
        return library + " cannot read it";
    // Of files of a newer library as well as of damaged ones: which of them, nobody can say.
    if (text.starts_with("bad version number"))
        text += ", which it does not know; a newer library may have written it";
    return library + ": " + text;
}

} // namespace forkpoint
