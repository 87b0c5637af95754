// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report_document.h"

class QPagedPaintDevice;
class QTextDocument;

namespace forkpoint {

/// The report on paper: the sections, tables and plots of the HTML report, laid out by Qt, which
/// knows no inline SVG. Plots become pictures.
void layOutReport(const ReportDocument &report, QTextDocument &document);

/// Prints on a printer, or writes a PDF; A4 unless the device says otherwise.
void printReport(const ReportDocument &report, QPagedPaintDevice &device);

} // namespace forkpoint
