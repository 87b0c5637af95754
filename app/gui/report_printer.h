// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report_json.h"

#include <QByteArray>
#include <QObject>

#include <functional>
#include <memory>

class QPrinter;
class QThread;

namespace forkpoint {

/// Lays reports out and paints them on a thread of its own, one after the other.
class ReportPrinter final : public QObject
{
    Q_OBJECT

public:
    explicit ReportPrinter(QObject *parent = nullptr);
    ~ReportPrinter() override; ///< waits for what is being printed

    void print(std::shared_ptr<const RunComparison> comparison, ReportOptions options,
               std::shared_ptr<QPrinter> printer);
    /// A4.
    void makePdf(std::shared_ptr<const RunComparison> comparison, ReportOptions options,
                 std::function<void(const QByteArray &pdf)> made);

Q_SIGNALS:
    void printed();

private:
    QThread *m_thread;
    QObject *m_worker; ///< lives on it
};

} // namespace forkpoint
