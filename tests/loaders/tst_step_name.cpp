// SPDX-License-Identifier: GPL-3.0-or-later
#include "loaders/step_name.h"

#include <QtTest>

using namespace forkpoint;

class StepNameTest : public QObject
{
    Q_OBJECT

private slots:
    void names_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<qint64>("step"); // -1: no step
        QTest::addColumn<QString>("pattern");
        const auto row = [](const char *name, qint64 step, const char *pattern) {
            QTest::newRow(name) << name << step << pattern;
        };
        row("step_000004.pt", 4, "step_#.pt");
        row("checkpoint-4", 4, "checkpoint-#");
        row("iter_0000004", 4, "iter_#");
        row("global_step4", 4, "global_step#");
        row("step-4", 4, "step-#");
        row("step4", 4, "step#");
        row("epoch=1-step=40.ckpt", 40, "epoch=#-step=#.ckpt");
        row("epoch=1-step=40-val_loss=0.32.ckpt", 40, "epoch=#-step=#-val_loss=#.ckpt");
        row("epoch=3.ckpt", 3, "epoch=#.ckpt");
        row("ckpt_4.npz", 4, "ckpt_#.npz");
        row("model_0004.safetensors", 4, "model_#.safetensors");
        row("checkpoint_1_4000.pt", 4000, "checkpoint_#_#.pt");
        row("gpt2_step_10.pt", 10, "gpt2_step_#.pt");
        row("Step_7.PT", 7, "Step_#.PT");
        row("100", 100, "#");
        row("step_4_rank_1.pt", 4, "step_#_rank_1.pt");
        row("step_9223372036854775807.pt", 9223372036854775807, "step_#.pt");
        // not steps
        row("step_9223372036854775808.pt", -1, "");
        row("model-00001-of-00002.safetensors", -1, "");
        row("step_4-00001-of-00002.safetensors", -1, "");
        row("mp_rank_00", -1, "");
        row("random_states_0.pkl", -1, "");
        row("rng_state_3.pth", -1, "");
        row("optimizer_0", -1, "");
        row("pytorch_model_fsdp_0", -1, "");
        row("model_fp16", -1, "");
        row("gpt2.safetensors", -1, "");
        row("step_4k.pt", -1, "");
        row("last.ckpt", -1, "");
        row("", -1, "");
        row("step", -1, "");
    }

    void names()
    {
        QFETCH(QString, name);
        QFETCH(qint64, step);
        QFETCH(QString, pattern);
        const auto found = parseStepName(name.toStdString());
        QCOMPARE(found.has_value(), step >= 0);
        if (!found)
            return;
        QCOMPARE(qint64(found->step), step);
        QCOMPARE(QString::fromStdString(found->pattern), pattern);
    }

    void surerWordsCountMore()
    {
        QVERIFY(parseStepName("step_4")->word > parseStepName("checkpoint_4")->word);
        QVERIFY(parseStepName("ckpt_4")->word > parseStepName("epoch_4")->word);
        QVERIFY(parseStepName("epoch_4")->word > parseStepName("model_4")->word);
    }

    void bareNumberNamesItsSibling()
    {
        QCOMPARE(parseStepName("model_1.safetensors")->withoutNumber, "model.safetensors");
        QVERIFY(parseStepName("step_1.safetensors")->withoutNumber.empty());
    }

    void unfinished_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("finished"); // empty: no mark
        const auto row = [](const char *name, const char *finished) {
            QTest::newRow(name) << name << finished;
        };
        row("step_4.pt.tmp", "step_4.pt");
        row("step4-tmp", "step4");
        row("tmp-checkpoint-4", "checkpoint-4");
        row("step_4.pt.part", "step_4.pt");
        row("4.orbax-checkpoint-tmp-1700000000", "4");
        row("step_4.pt.incomplete", "step_4.pt");
        row("step_4.pt", "");
        row(".tmp", "");
        row("attempt_4.pt", "");
    }

    void unfinished()
    {
        QFETCH(QString, name);
        QFETCH(QString, finished);
        const auto found = finishedName(name.toStdString());
        QCOMPARE(QString::fromStdString(found.value_or("")), finished);
    }
};

QTEST_APPLESS_MAIN(StepNameTest)
#include "tst_step_name.moc"
