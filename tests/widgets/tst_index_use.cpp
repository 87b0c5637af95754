// SPDX-License-Identifier: GPL-3.0-or-later
// The index of fingerprints in the window: what it says of the proof, and the ways to read all the same.
#include "app/gui/arguments.h"
#include "viewer_fixture.h"
#include "widget_test_main.h"
#include "widgets/views/verdict_banner.h"

#include <QAction>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace forkpoint;

namespace {

/// Younger files are not remembered (resources/docs/index.md).
constexpr int SettleTime = 2200;

/// One tensor of a mebibyte and a bit, all of whose elements are that one.
bool writeCheckpoint(const QString &path, float element)
{
    constexpr int Elements = 300'000;
    QByteArray header = R"({"w":{"dtype":"F32","shape":[300000],"data_offsets":[0,1200000]}})";
    QByteArray bytes(8, '\0');
    bytes[0] = char(header.size());
    bytes += header;
    for (int i = 0; i < Elements; ++i)
        bytes.append(reinterpret_cast<const char *>(&element), sizeof element);
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
}

struct IndexViewer : Viewer
{
    using Viewer::Viewer;

    Strength strength() const { return context.comparison()->verdict.strength; }
    QString banner() const { return window.findChild<VerdictBanner *>()->plainText(); }
    QAction *action(const QString &text) const
    {
        for (QAction *each : window.findChildren<QAction *>()) {
            if (each->text().remove(u'&') == text)
                return each;
        }
        return nullptr;
    }
};

} // namespace

class IndexUseTest : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    QString m_a = m_folder.filePath(QStringLiteral("a.safetensors"));
    QString m_b = m_folder.filePath(QStringLiteral("b.safetensors"));

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("XDG_CACHE_HOME", QFile::encodeName(m_folder.filePath(QStringLiteral("cache"))));
        QVERIFY(writeCheckpoint(m_a, 1.0F) && writeCheckpoint(m_b, 1.0F));
        QTest::qWait(SettleTime);
    }

    /// Read once, then known; verified, read again; switched off, read and forgotten.
    void theProofIsNamed()
    {
        IndexViewer viewer;
        QVERIFY(viewer.context.usesIndex());
        viewer.context.openPair(m_a, m_b);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
        QVERIFY(viewer.strength() == Strength::Bytes);

        viewer.context.reload();
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished() && viewer.strength() == Strength::Xxh3Index,
                                 Patience);
        QVERIFY(viewer.context.comparison()->verdict.outcome == Outcome::Identical);
        QVERIFY(viewer.banner().contains(QStringLiteral("xxh3-128-index")));
        QVERIFY(viewer.banner().contains(QStringLiteral("verify by reading")));

        viewer.action(QStringLiteral("Verify by reading"))->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished() && viewer.strength() == Strength::Bytes,
                                 Patience);
        QVERIFY(!viewer.banner().contains(QStringLiteral("verify by reading")));

        viewer.context.reload(); // for these sides alone
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished() && viewer.strength() == Strength::Xxh3Index,
                                 Patience);
        QAction *const use = viewer.action(QStringLiteral("Use the index of fingerprints"));
        QVERIFY(use->isChecked());
        use->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished() && viewer.strength() == Strength::Bytes,
                                 Patience);
        QVERIFY(!Settings().usesIndex());
        use->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished() && viewer.strength() == Strength::Xxh3Index,
                                 Patience);
        QVERIFY(Settings().usesIndex());
    }

    /// A byte that changed is read, whatever is remembered of the file.
    void aChangedFileIsRead()
    {
        IndexViewer viewer;
        QVERIFY(writeCheckpoint(m_b, 1.5F));
        viewer.context.openPair(m_a, m_b);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
        QVERIFY(viewer.context.comparison()->verdict.outcome == Outcome::Different);
        QVERIFY(writeCheckpoint(m_b, 1.0F));
    }

    /// As with --no-index, and for pictures.
    void withoutAnIndex()
    {
        QVERIFY(Arguments::parse({QStringLiteral("--no-index"), m_a}).noIndex);
        SessionEnvironment environment = SessionEnvironment::standard();
        environment.makeIndex = nullptr;
        IndexViewer viewer(std::move(environment));
        QVERIFY(!viewer.context.usesIndex());
        viewer.context.openPair(m_a, m_b);
        QTRY_VERIFY_WITH_TIMEOUT(viewer.finished(), Patience);
        QVERIFY(viewer.strength() == Strength::Bytes);
        QVERIFY(!viewer.action(QStringLiteral("Use the index of fingerprints"))->isEnabled());
        QVERIFY(!viewer.action(QStringLiteral("Verify by reading"))->isEnabled());
    }
};

FP_WIDGET_TEST_MAIN(IndexUseTest)
#include "tst_index_use.moc"
