// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/view_context.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QSpinBox;
class QTimer;
class QToolButton;

namespace forkpoint {

class FlowLayout;
class HeatMapView;

/// Where a pair of tensors differs: a heat map with the choice of what is drawn, of the axes and of
/// the colour range. Asks for its map while it is seen.
class WherePage : public QWidget
{
    Q_OBJECT

public:
    explicit WherePage(ViewContext *context, QWidget *parent = nullptr);

    HeatMapView *view() const { return m_view; }
    void setMarked(std::optional<Index> element);
    QString description() const; ///< what a cell stands for

Q_SIGNALS:
    void partSelected(const std::optional<forkpoint::PlanePart> &part); ///< filter the elements
    void elementActivated(forkpoint::Index index);

protected:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    const TensorRow *row() const;
    void refreshTensor();
    void showQuantities(const TensorRow *tensor);
    void fillAxes();
    void refreshSlices();
    ElementPlane plane() const;
    void setWindow(const PlaneWindow &window);
    void ask();
    void receive(quint64 id, std::shared_ptr<const ElementMap> map);
    void describe();
    void applyRange();

    ViewContext *m_context;
    HeatMapView *m_view;
    int m_chosenQuantity = -1; ///< while a tensor of one side decides; -1: none
    QComboBox *m_quantity, *m_axes;
    FlowLayout *m_bar;                ///< the boxes of slices come last
    std::vector<QSpinBox *> m_slices; ///< one an axis; of the two drawn ones hidden
    QCheckBox *m_autoRange;
    QSpinBox *m_lowest, *m_highest;
    QToolButton *m_whole;
    QLabel *m_description;
    QTimer *m_later;
    std::shared_ptr<const CheckpointComparison> m_comparison;
    QString m_pair;
    forkpoint::Shape m_shape;
    PlaneWindow m_window;
    MapQuery m_asked;
    std::uint64_t m_askedId = 0;
    QString m_error;
    std::optional<Side> m_readSide; ///< of a pair of which the other cannot be read
};

} // namespace forkpoint
