// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/main_window.h"
#include "app/gui/samples.h"
#include "app/gui/session_context.h"
#include "widgets/views/styled_text.h"

#include <optional>
#include <string>

namespace forkpoint {

inline constexpr int Patience = 60'000;

inline const QString SampleA = QStringLiteral(FORKPOINT_SAMPLES "/A");
inline const QString SampleC = QStringLiteral(FORKPOINT_SAMPLES "/C");
inline const QString SampleD = QStringLiteral(FORKPOINT_SAMPLES "/D");

/// The starts and ends of jobs, as the status line hears them.
struct JobLog
{
    int starts = 0, ends = 0;
    QStringList ended;

    void hear(const JobState &job)
    {
        const bool running = job.phase == JobState::Phase::Running;
        if (running && !m_running)
            ++starts;
        if (!running && job.phase != JobState::Phase::Idle) {
            ++ends;
            ended += job.title;
        }
        m_running = running;
    }

private:
    bool m_running = false;
};

/// The window as main() makes it, over a real session, with settings of its own.
struct Viewer
{
    Settings settings;
    SessionContext context;
    MainWindow window{context, settings, Memory::Off};
    JobLog jobs;

    explicit Viewer(SessionEnvironment environment = SessionEnvironment::standard())
        : context(std::move(environment), settings, bundledSamples(), Memory::Off)
    {
        QObject::connect(&context, &ViewContext::jobChanged, &window,
                         [this] { jobs.hear(context.job()); });
        window.resize(1280, 800);
        window.show();
    }

    template <class View>
    View *find() const
    {
        return window.findChild<View *>();
    }

    bool finished() const
    {
        return context.comparison() && context.comparison()->finished
            && context.job().phase == JobState::Phase::Finished;
    }

    std::optional<std::size_t> rowOf(const std::string &name) const
    {
        const auto comparison = context.stepComparison();
        for (std::size_t row = 0; comparison && row < comparison->tensors.size(); ++row)
            if (comparison->tensors[row].name == name)
                return row;
        return std::nullopt;
    }
};

/// What the styled texts of a view say that can be seen.
inline QString textsOf(const QWidget *view)
{
    QStringList texts;
    for (const StyledText *text : view->findChildren<StyledText *>()) {
        if (text->isVisible())
            texts += text->plainText();
    }
    return texts.join(u'\n');
}

} // namespace forkpoint
