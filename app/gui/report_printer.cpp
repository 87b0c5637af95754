// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/report_printer.h"

#include "app/gui/report_print.h"

#include <QBuffer>
#include <QPdfWriter>
#include <QPrinter>
#include <QThread>

namespace forkpoint {

ReportPrinter::ReportPrinter(QObject *parent)
    : QObject(parent),
      m_thread(new QThread(this)),
      m_worker(new QObject)
{
    m_worker->moveToThread(m_thread);
    connect(m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    m_thread->start(QThread::LowPriority);
}

ReportPrinter::~ReportPrinter()
{
    m_thread->quit();
    m_thread->wait();
}

void ReportPrinter::print(std::shared_ptr<const RunComparison> comparison, ReportOptions options,
                          std::shared_ptr<QPrinter> printer)
{
    QMetaObject::invokeMethod(m_worker,
                              [this, comparison = std::move(comparison),
                               options = std::move(options), printer = std::move(printer)] {
                                  printReport(makeReport(*comparison, options), *printer);
                                  Q_EMIT printed();
                              });
}

void ReportPrinter::makePdf(std::shared_ptr<const RunComparison> comparison, ReportOptions options,
                            std::function<void(const QByteArray &pdf)> made)
{
    QMetaObject::invokeMethod(m_worker,
                              [this, comparison = std::move(comparison),
                               options = std::move(options), made = std::move(made)] {
                                  QBuffer buffer;
                                  buffer.open(QIODevice::WriteOnly);
                                  {
                                      QPdfWriter writer(&buffer);
                                      writer.setPageSize(QPageSize(QPageSize::A4));
                                      writer.setCreator(QStringLiteral("Forkpoint"));
                                      printReport(makeReport(*comparison, options), writer);
                                  }
                                  QMetaObject::invokeMethod(
                                      this, [made, pdf = buffer.data()] { made(pdf); });
                              });
}

} // namespace forkpoint
