// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

namespace forkpoint {

class StyledText;

/// The verdict, always in view: outcome, where it begins, recipe differences, proof and coverage,
/// and a row of classes. While a comparison runs it says so and that it is no verdict.
class VerdictBanner : public QWidget
{
    Q_OBJECT

public:
    explicit VerdictBanner(ViewContext *context, QWidget *parent = nullptr);

    QString plainText() const; ///< all that is shown, line by line

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
    void refresh();
    void follow(const QString &link);

    ViewContext *m_context;
    StyledText *m_sentence;
    StyledText *m_classes;
    QColor m_stripe;
};

} // namespace forkpoint
