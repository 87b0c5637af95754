// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/verdict_segments.h"

#include <QWidget>

namespace forkpoint {

/// The verdict, always in view: outcome, where it begins, recipe differences, proof and coverage,
/// and a row of classes. While a comparison runs it says so and that it is no verdict.
class VerdictBanner : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictBanner(ViewContext *context, QWidget *parent = nullptr);

    QString plainText() const; ///< all that there is to say, line by line

    /// The height that it takes at that width, with all of its text or in brief.
    int heightFor(int width, bool brief) const;
    void setBrief(bool brief);
    bool isBrief() const { return m_isBrief; }
    bool isHeldOpen() const { return m_isHeldOpen; } ///< the user asked for all of it

Q_SIGNALS:
    void recipeRequested(); ///< show the recipe differences among the values
    void itemRequested(const QString &name);
    void metricRequested(const QString &name); ///< show it in the strip
    void classRequested(forkpoint::StateClass stateClass);
    void placeRequested(std::int64_t step, const std::string &stage); ///< records of traces
    void findingsRequested();
    void problemsRequested();
    void mappingRequested(forkpoint::Side side); ///< read what does not open by a sheet
    void openRequested(forkpoint::Side side);    ///< the one that is missing

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    struct Texts
    {
        StyledText *sentence, *classes;
        bool hasClasses = false;

        void set(VerdictText text);
    };

    void refresh();
    void showTexts(bool brief);
    void holdOpen(bool open);
    void follow(const QString &link);

    ViewContext *m_context;
    Texts m_full, m_brief;
    bool m_isBrief = false, m_isHeldOpen = false;
    QColor m_stripe;
};

} // namespace forkpoint
