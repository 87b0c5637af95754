// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <set>
#include <string>
#include <string_view>

namespace forkpoint {

/// What a person marked in one pair of runs: tensors and values to keep in view, and differences
/// that are expected. Neither hides anything or changes a verdict. Names are logical names.
class PairNotes : public QObject
{
    Q_OBJECT

public:
    using Names = std::set<std::string, std::less<>>;

    using QObject::QObject;

    const Names &pinned() const { return m_pinned; }
    const Names &expected() const { return m_expected; }
    bool isPinned(std::string_view name) const { return m_pinned.contains(name); }
    bool isExpected(std::string_view name) const { return m_expected.contains(name); }

    void setPinned(const std::string &name, bool pinned);
    void setExpected(const std::string &name, bool expected);
    /// Those of another pair; does not count as a change by the user.
    void replace(Names pinned, Names expected);

Q_SIGNALS:
    void changed();       ///< other notes are shown
    void changedByUser(); ///< worth remembering

private:
    void set(Names &names, const std::string &name, bool in);

    Names m_pinned, m_expected;
};

} // namespace forkpoint
