// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace forkpoint {

/// Shapes of one inline SVG, in the order in which they are drawn. Lengths are pixels of the view
/// box, written with one digit after the point.
class SvgWriter
{
public:
    /// `label` says what it shows, for those who do not see it.
    SvgWriter(int width, int height, std::string_view label);

    void line(double x1, double y1, double x2, double y2, std::string_view style);
    void rect(double x, double y, double width, double height, std::string_view style);
    void circle(double x, double y, double radius, std::string_view style);
    /// `anchor`: "start", "middle" or "end"; y is the base line.
    void text(double x, double y, std::string_view text, std::string_view anchor,
              std::string_view style = "label");
    void moveTo(double x, double y); ///< begins a path, or goes on with it
    void lineTo(double x, double y);
    void endPath(std::string_view style);

    std::string take();

private:
    std::string m_out, m_path;
};

} // namespace forkpoint
