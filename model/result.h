// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/error.h"

#include <optional>
#include <utility>
#include <variant>

namespace forkpoint {

/// A value or the reason why there is none. Exceptions do not cross a module border; std::expected
/// is C++23, this is the part of it that the project needs.
template <class T>
class [[nodiscard]] Result
{
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    T &value() & { return std::get<0>(m_state); }
    const T &value() const & { return std::get<0>(m_state); }
    T &&value() && { return std::get<0>(std::move(m_state)); }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }

    const Error &error() const & { return std::get<1>(m_state); }
    Error &&error() && { return std::get<1>(std::move(m_state)); }

private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void>
{
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    bool ok() const { return !m_error.has_value(); }
    explicit operator bool() const { return ok(); }
    const Error &error() const & { return *m_error; }
    Error &&error() && { return std::move(*m_error); }

private:
    std::optional<Error> m_error;
};

using Status = Result<void>;

} // namespace forkpoint

#define FP_CONCAT_(a, b) a##b
#define FP_CONCAT(a, b) FP_CONCAT_(a, b)

/// FP_TRY(auto x, expression): declares x from the value, or returns the error to the caller.
#define FP_TRY(declaration, expression) FP_TRY_(declaration, expression, FP_CONCAT(fpTry, __LINE__))
#define FP_TRY_(declaration, expression, name) \
    auto name = (expression);                  \
    if (!name.ok())                            \
        return std::move(name).error();        \
    declaration = std::move(name).value()

/// FP_CHECK(expression): returns the error of a Status to the caller.
#define FP_CHECK(expression)                   \
    do {                                       \
        auto fpCheck = (expression);           \
        if (!fpCheck.ok())                     \
            return std::move(fpCheck).error(); \
    } while (false)
