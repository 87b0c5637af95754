// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/svg_writer.h"

#include "model/report/report_svg.h"

#include <array>
#include <charconv>

namespace forkpoint {

namespace {

std::string pixels(double value)
{
    std::array<char, 400> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::fixed, 1);
    std::string text(buffer.data(), end.ptr);
    if (text.ends_with(".0"))
        text.resize(text.size() - 2);
    return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, double value)
{
    return " " + std::string(name) + "=\"" + pixels(value) + "\"";
}

std::string styled(std::string_view style)
{
    return " class=\"" + std::string(style) + "\"";
}

} // namespace

SvgWriter::SvgWriter(int width, int height, std::string_view label)
    : m_out("<svg viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height)
            + "\" role=\"img\" aria-label=\"" + markupText(label) + "\">\n")
{
}

void SvgWriter::line(double x1, double y1, double x2, double y2, std::string_view style)
{
    m_out += "<line" + styled(style) + attribute("x1", x1) + attribute("y1", y1)
        + attribute("x2", x2) + attribute("y2", y2) + "/>\n";
}

void SvgWriter::rect(double x, double y, double width, double height, std::string_view style)
{
    m_out += "<rect" + styled(style) + attribute("x", x) + attribute("y", y)
        + attribute("width", width) + attribute("height", height) + "/>\n";
}

void SvgWriter::circle(double x, double y, double radius, std::string_view style)
{
    m_out += "<circle" + styled(style) + attribute("cx", x) + attribute("cy", y)
        + attribute("r", radius) + "/>\n";
}

void SvgWriter::text(double x, double y, std::string_view text, std::string_view anchor,
                     std::string_view style)
{
    m_out += "<text" + styled(style) + attribute("x", x) + attribute("y", y) + " text-anchor=\""
        + std::string(anchor) + "\">" + markupText(text) + "</text>\n";
}

void SvgWriter::moveTo(double x, double y)
{
    m_path += "M" + pixels(x) + " " + pixels(y);
}

void SvgWriter::lineTo(double x, double y)
{
    m_path += "L" + pixels(x) + " " + pixels(y);
}

void SvgWriter::endPath(std::string_view style)
{
    m_out += "<path" + styled(style) + " d=\"" + m_path + "\"/>\n";
    m_path.clear();
}

std::string SvgWriter::take()
{
    m_out += "</svg>\n";
    return std::move(m_out);
}

} // namespace forkpoint
