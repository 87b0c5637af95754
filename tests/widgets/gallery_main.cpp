// SPDX-License-Identifier: GPL-3.0-or-later
// Renders every view with hand-made data, light and dark, to PNG files: widgets_gallery FOLDER.
#include "support/fake_view_context.h"
#include "widgets/theme.h"
#include "widgets/views/element_view.h"
#include "widgets/views/job_status.h"
#include "widgets/views/side_chips.h"
#include "widgets/views/step_strip.h"
#include "widgets/views/tensor_detail.h"
#include "widgets/views/tensor_list.h"
#include "widgets/views/verdict_banner.h"
#include "widgets/views/welcome.h"

#include <QApplication>
#include <QDir>
#include <QSplitter>
#include <QStyleFactory>
#include <QTabWidget>
#include <QVBoxLayout>

#include <cstdio>

using namespace forkpoint;

namespace {

constexpr QSize WindowSize(1280, 800);

QString folder;

void save(QWidget &widget, const QString &name)
{
    widget.resize(WindowSize);
    widget.show();
    for (int i = 0; i < 20; ++i)
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    const QString path = folder + u'/' + name + QStringLiteral(".png");
    if (!widget.grab().save(path))
        std::fprintf(stderr, "cannot write %s\n", qPrintable(path));
}

ElementPage somePage(const ElementQuery &query)
{
    ElementPage page;
    page.differentElements = 632;
    for (std::size_t i = 0; i < query.count; ++i) {
        const Index index = query.offset + i;
        const float a = -0.153936043F / float(index + 1);
        page.rows.push_back(
            floatRow((index * 37) % 2304, a,
                     a + (query.order == ElementOrder::ByIndex && i % 4 ? 0 : a * 2e-7F)));
    }
    return page;
}

std::unique_ptr<QWidget> mainWindow(FakeViewContext &context)
{
    auto window = std::make_unique<QWidget>();
    auto *layout = new QVBoxLayout(window.get());
    layout->setContentsMargins(10, 8, 10, 2);
    layout->setSpacing(8);
    layout->addWidget(new SideChips(&context));
    layout->addWidget(new VerdictBanner(&context));
    layout->addWidget(new StepStrip(&context));
    auto *splitter = new QSplitter;
    splitter->setHandleWidth(8);
    splitter->addWidget(new TensorList(&context));
    splitter->addWidget(new TensorDetail(&context));
    splitter->setSizes({560, 700});
    layout->addWidget(splitter, 1);
    layout->addWidget(new JobStatus(&context));
    return window;
}

void renderAll(const QString &theme)
{
    FakeViewContext context;
    QObject::connect(&context, &ViewContext::elementsReady, &context, [] {});
    fillLikeSamples(context);
    context.tensor = 4;
    auto window = mainWindow(context);
    for (const ElementRequest &request : context.elementRequests)
        context.answer(request.id, somePage(request.query));
    save(*window, QStringLiteral("main-") + theme);
    window->findChild<QTabWidget *>()->setCurrentIndex(1);
    auto *list = window->findChild<TensorList *>();
    list->treeAction()->setChecked(true);
    save(*window, QStringLiteral("facts-tree-") + theme);
    list->showRecipe();
    list->onlyDifferingAction()->setChecked(false);
    save(*window, QStringLiteral("values-") + theme);

    FakeViewContext running;
    fillLikeSamples(running);
    auto partial = std::make_shared<RunComparison>(*running.runComparison);
    partial->finished = partial->shown.finished = false;
    auto step = std::make_shared<CheckpointComparison>(*running.checkpointComparison);
    step->finished = false;
    for (std::size_t i = 20; i < step->tensors.size(); ++i) {
        step->tensors[i].status = ItemStatus::NotCompared;
        step->tensors[i].stats.reset();
        step->tensors[i].reason = "not compared yet";
    }
    partial->steps[1].status = partial->steps[2].status = StepStatus::Pending;
    running.runComparison = partial;
    running.checkpointComparison = step;
    running.jobState = {
        JobState::Phase::Running,
        QStringLiteral("Comparing runs/A with runs/C"),
        {"comparing step 8", "model.layers.3.fc1.weight", 400'000, 1'100'000, 34, 1200},
        2.4e8,
        {}};
    auto busy = mainWindow(running);
    save(*busy, QStringLiteral("running-") + theme);

    FakeViewContext empty;
    empty.samplePairs = context.samplePairs;
    empty.recent = context.recent;
    auto nothing = mainWindow(empty);
    save(*nothing, QStringLiteral("empty-") + theme);
    Welcome welcome(&empty);
    save(welcome, QStringLiteral("welcome-") + theme);
}

} // namespace

int main(int argc, char **argv)
{
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    if (argc != 2) {
        std::fprintf(stderr, "usage: widgets_gallery FOLDER\n");
        return 2;
    }
    folder = QString::fromLocal8Bit(argv[1]);
    QDir().mkpath(folder);
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    QApplication::setFont(QFont(QStringLiteral("DejaVu Sans"), 9));
    QApplication::setPalette(lightPalette());
    renderAll(QStringLiteral("light"));
    QApplication::setPalette(darkPalette());
    renderAll(QStringLiteral("dark"));
    return 0;
}
