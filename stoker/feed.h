/// \file
/// The feed: opens image data, augments it by parallel workers and gives batches whose content and
/// order do not depend on how many workers there are. This header is all that a program needs:
///
///     #include <stoker/feed.h>
///
///     stoker::Feed feed(stoker::open_data("photos", stoker::Split::kTrain),
///                       stoker::Policy::parse("random_resized_crop(224),hflip(0.5)"),
///                       {.workers = 4, .batch_size = 64, .epochs = 10, .seed = 1});
///     while (auto batch = feed.next()) {
///       train_on(batch->pixels_f32(), batch->labels());  // sample, channel, row, column
///     }
///
/// What it includes:
///  - stoker::open_data(): a dataset by name, a folder, list or table of images, shards, parts of
///    these; stoker::divide() makes a validation part where there is none;
///  - stoker::Source: derive from it for data of another kind, and pass it to the feed;
///    stoker::EncodedSource: the same for images as the bytes of their files;
///  - stoker::Policy: augmentation as text; stoker::register_operation() adds operations to those
///    that it can name;
///  - stoker::Feed and stoker::FeedOptions: the workers; stoker::Batch: what they give;
///  - stoker::kDataOrderVersion: changes when the same seed gives other batches.
///
/// Errors are thrown as stoker::Error. Link with the CMake target `Stoker::feed` or the pkg-config
/// module `stoker-feed`.
#pragma once

#include "stoker/augment/policy.h"
#include "stoker/augment/presets.h"
#include "stoker/augment/registry.h"
#include "stoker/core/data_order.h"
#include "stoker/core/error.h"
#include "stoker/data/catalog.h"
#include "stoker/data/division.h"
#include "stoker/data/sources/encoded_source.h"
#include "stoker/data/sources/source.h"
#include "stoker/pipeline/feed.h"
