// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractItemModel>
#include <QAction>
#include <QApplication>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QString>
#include <QToolButton>
#include <QTreeView>
#include <QWidget>
