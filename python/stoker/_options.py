"""Options of the program's commands. Made by scripts/python_options; do not edit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, Protocol, TypedDict, Union


class HasPolicy(Protocol):
    """An object of stoker.transforms."""

    def to_policy(self) -> str: ...


Text = Union[str, int, float, "os.PathLike[str]", HasPolicy]


class TrainOptions(TypedDict, total=False):
    """Options of `stoker train`."""

    val_data: Text  # separate validation data, as for --data
    val_every: int  # validate on every N-th sample of each class, where the data has no validation part [default: 0]
    val_fraction: Text  # validate on this fraction of each class, where the data has no validation part; of shards, whole shards [default: 0.1]
    val_split: Literal["auto", "test"]  # validate on the validation part, or one made by --val-fraction (auto), or on the test part [default: auto]
    folds: int  # K-fold cross-validation; trains all K folds unless --fold is given [default: 0]
    fold: int  # train only this fold, counted from 0 (-1: all) [default: -1]
    split_seed: int  # random seed of the split into training and validation [default: 0]
    test_data: Text  # separate test data, as for --data
    aa: Text  # augmentation: a preset (mnist, imagenet-train, …) or a list such as "rotate(-15,15),noise(0.1)"; see `stoker ops` [default: none]
    val_aa: Text  # validation preprocessing, e.g. "resize(224,224)" (auto: the resize of --aa, or a center crop of its size where it takes random parts) [default: auto]
    img_size: int  # size of training and validation images (0: that of --aa or of the data) [default: 0]
    skip_unknown: bool  # skip images in unsupported formats (GIF, HEIC, AVIF, …)
    exact_decode: bool  # decode JPEGs at full size before resizing
    train_samples: Text  # train on a random subset of N samples, or on the first N with first:N (0: all) [default: 0]
    mean: float | Sequence[float]  # mean per channel, in [0, 1] (not given: ImageNet's for colour, 0 for grey)
    std: float | Sequence[float]  # standard deviation per channel (not given: ImageNet's for colour, 1 for grey)
    max_pixels: int  # reject images with more pixels [default: 178956970]
    page: int  # page of a TIFF file with several, counted from 0 [default: 0]
    channels: Literal[1, 3, 4]  # channels of images in files: 1 (grey), 3 (RGB) or 4 (RGBA) [default: 3]
    depth: Literal[8, 16]  # bits of a value of images in files; 16 keeps those of 16-bit PNG, TIFF and PNM [default: 8]
    window: Text  # with --depth 16: LOW,HIGH, the values that become 0 and 1, or image: each image's smallest and largest
    shuffle_window: int  # shards: number of shards whose samples are mixed [default: 16]
    shuffle_lanes: int  # shards: number of lanes; with a multiple of the number of ranks, each rank reads its own shards [default: 1]
    cache_dir: Text  # remote shards: cache folder (not given: the user's cache folder)
    cache_size: Text  # remote shards: size of the cache, e.g. 200GB [default: 64GiB]
    store_tries: int  # remote shards: download attempts per object [default: 8]
    store_timeout: Text  # remote shards: seconds without data before a download is repeated [default: 20]
    follow_redirects: bool  # remote shards over HTTP: follow redirects to other hosts
    label: Text  # table: column of the classes (not given: label, class or category)
    labels: Text  # table: columns of 0 and 1, one for each class, with commas between them; or one column of lists such as cat;dog
    target: Text  # table: columns of numbers to predict, with commas between them
    path_column: Text  # table: column of the images' paths (not given: path, file, filename, image, image_path, filepath or img, else the first)
    split_column: Text  # table: column with train, val or test (not given: split; none: no column)
    weight_column: Text  # table: column of weights, how much each image counts in the loss
    batch_size: Text  # batch size, over all ranks (auto: measured on this machine) [default: 64]
    sampler: Literal["shuffle", "balanced"]  # balanced: repeat images of rare classes until all classes are equally frequent {shuffle, balanced} [default: shuffle]
    views: int  # augmented versions of each image in a batch; a step is their mean [default: 1]
    batches_per_epoch: int  # batches per epoch (0: one pass over the data) [default: 0]
    task: Literal["auto", "classify", "multilabel", "regress"]  # one class per image (classify), several (multilabel), or numbers (regress); auto: what the data has {auto, classify, multilabel, regress} [default: auto]
    model: Text  # mlp:SIZE,…,SIZE[:sigmoid|:relu[:softmax|:sigmoid]], e.g. mlp:784,128,10; or cnn:small or cnn:CHANNELS,…,CHANNELS, e.g. cnn:16,32,64; or resnet18; or resnet34; or resnet50; or resnet101; or mobilenet_v2; or convnext_atto|femto|pico|nano|tiny|small|base; or vit_tiny|small|base_patch16_224; or efficientnet_b0|b1|b2|b3|b4|v2_s; or mobilenet_v3_small|large; or regnet_y_400mf|800mf|1_6gf|3_2gf|8gf; or FILE.pt2, a network exported from Python (not given: chosen from the data or --pretrained)
    head: Text  # with --model FILE.pt2: the linear layer that gives the classes, where it is not the last one
    drop_path: float  # stochastic depth: probability that a sample skips the last block in training; less for blocks before it (convnext, vit, efficientnet, regnet_y) [default: 0]
    pretrained: Text  # weights to start from: .safetensors, .pth, a run folder, one with timm's config.json, or the name of published weights, e.g. resnet50; a head for other classes is replaced
    weights_dir: Text  # folder of published weights (not given: $STOKER_WEIGHTS; then PyTorch's cache)
    download: bool  # download published weights that are not on this machine, and check their SHA-256
    allow_nonfinite: bool  # accept --pretrained weights that contain NaN or infinity
    freeze: Text  # layers to freeze: none, all but the head, or the first N stages [default: none]
    unfreeze_epoch: int  # unfreeze all layers after N epochs (0: never) [default: 0]
    features: Literal["fresh", "cached"]  # with --freeze all: compute the input of the head once for --cached-views versions of each image (cached), or in every epoch (fresh) [default: fresh]
    cached_views: int  # with --features cached: augmented versions of each image [default: 10]
    seed: int  # random seed [default: 0]
    epochs: int  # number of training epochs [default: 10]
    mixup: float  # Mixup alpha (0: off) [default: 0]
    cutmix: float  # CutMix alpha (0: off) [default: 0]
    mixup_prob: float  # probability that a batch is mixed [default: 1]
    mixup_switch_prob: float  # probability of CutMix where Mixup is on too [default: 0.5]
    smoothing: float  # label smoothing [default: 0]
    class_weights: Literal["none", "balanced"]  # balanced: weight the loss by inverse class frequency [default: none]
    model_ema: bool  # validate and save an exponential moving average of the weights
    model_ema_decay: float  # EMA decay per step [default: 0.9998]
    model_ema_warmup: bool  # lower EMA decay in the first steps
    swa_start: int  # average the weights after each epoch beyond the first N, equally; validate and save the average (0: off) [default: 0]
    patience: int  # stop after N epochs without improvement (0: never) [default: 0]
    topk: int  # k of the top-k accuracy [default: 5]
    freeze_norms: bool  # batch norms of frozen stages use their running statistics; --no-freeze-norms: batch statistics, which also update the running ones
    val_features: Literal["cached", "fresh"]  # with --freeze all: compute the head's input for validation images once (cached), or in every epoch (fresh) [default: cached]
    loss: Literal["auto", "cross-entropy", "mse", "bce", "focal", "asymmetric", "huber"]  # loss (auto: cross-entropy; multilabel: bce; regress: mse); classify also takes mse and bce, multilabel focal and asymmetric, regress huber {auto, cross-entropy, mse, bce, focal, asymmetric, huber} [default: auto]
    grad_reduction: Literal["mean", "sum"]  # gradient of a step: mean or sum over its samples [default: mean]
    teacher: Text  # model file or run folder of the same classes and image size whose probabilities take part in the loss (distillation)
    distill: Literal["soft", "hard"]  # with --teacher: compare with its probabilities (soft), or with its most probable class (hard) [default: soft]
    distill_alpha: float  # with --teacher: weight of its part of the loss; 1 - N for the labels [default: 0.5]
    distill_temperature: float  # with --distill soft: temperature of both softmaxes [default: 3]
    opt: Text  # sgd, momentum, adam, adamw, lion (sgd: with Nesterov momentum) [default: sgd]
    momentum: float  # momentum of sgd and momentum (0: none) [default: 0.9]
    beta1: float  # beta1 of adam, adamw and lion [default: 0.9]
    beta2: float  # beta2 of adam, adamw and lion (not given: 0.999, for lion 0.99) [default: 0.999]
    opt_eps: float  # epsilon of adam and adamw [default: 1e-08]
    weight_decay: float  # weight decay; biases and norms have none [default: 0]
    layer_decay: float  # learning-rate factor from each stage to the one before it (1: off) [default: 1]
    clip_grad: float  # clip gradients to this norm (0: off) [default: 0]
    grad_accum_steps: int  # accumulate gradients over N batches [default: 1]
    lr: Text  # peak learning rate (auto: range test; not given: 0.1, for adam and adamw 0.001, for lion 0.0001, lower with --pretrained) [default: 0.1]
    sched: Text  # constant, step, cosine, onecycle, plateau [default: cosine]
    min_lr: float  # minimum learning rate [default: 0]
    warmup_epochs: float  # epochs of linear warm-up from --warmup-lr to --lr [default: 0]
    warmup_lr: float  # learning rate at the start of the warm-up [default: 1e-05]
    decay_epochs: float  # step: epochs between reductions of the rate [default: 30]
    decay_first_epochs: float  # step: epochs before the first reduction (0: as --decay-epochs) [default: 0]
    decay_rate: float  # step and plateau: factor of each reduction [default: 0.1]
    patience_epochs: int  # plateau: epochs without improvement before reducing the rate [default: 10]
    workers: int  # data-loading threads (0: one per available CPU, at least 2) [default: 0]
    threads: int  # compute threads (0: chosen from the model) [default: 0]
    device: Text  # auto, cpu, cuda or cuda:INDEX [default: auto]
    amp: bool | str  # mixed precision: on (or no value), off, auto (on with AMX, or a GPU with bfloat16) [default: off]
    amp_dtype: Literal["bfloat16", "float16"]  # bfloat16, or float16 with gradient scaling (CUDA) {bfloat16, float16} [default: bfloat16]
    rank: int  # rank of this process (-1: from torchrun, mpirun or srun) [default: -1]
    world_size: int  # number of processes (0: from the launcher) [default: 0]
    master_addr: Text  # host of rank 0 (not given: from the launcher)
    master_port: int  # port on that host (0: from the launcher) [default: 0]
    dist_backend: Literal["auto", "gloo", "nccl"]  # c10d backend (auto: gloo on CPUs, nccl on GPUs) [default: auto]
    dist_interface: Text  # network interface, e.g. eth0 (not given: the one that leads to --master-addr)
    dist_secret_file: Text  # file with the secret that all ranks share, for its owner alone (not given: STOKER_DIST_SECRET_FILE or STOKER_DIST_SECRET, if set)
    timeout: float  # seconds after which a dead, hanging or unreachable rank ends the others [default: 300]
    reduce: Literal["overlap", "after"]  # sum gradients over ranks during the backward pass (overlap) or after it [default: overlap]
    grad_compression: Literal["none", "bfloat16"]  # precision of gradients between ranks; bfloat16 halves the traffic [default: none]
    sync_bn: bool  # compute batch-norm statistics over all ranks
    on_error: Literal["stop", "skip"]  # unreadable sample: stop the run, or skip it; the next sample takes its place [default: stop]
    on_divergence: Literal["continue", "stop"]  # loss not finite, or above 10 times that of the first 50 steps for 200 steps: stop the run, or continue [default: stop]
    isolate: bool  # decode untrusted files in sandboxed processes
    max_errors: int  # with --on-error skip: stop after more than N unreadable samples [default: 100]
    output: Text  # folder for run folders [default: runs]
    experiment: Text  # name of the run (not given: made of data and network)
    checkpoint_every: Text  # interval between checkpoints: 50steps, 5min, 1epoch (auto: each epoch, while that takes under 5 % of the time) [default: auto]
    keep: int  # checkpoints to keep [default: 2]
    tensorboard: bool  # write TensorBoard event files
    histograms: bool  # with --tensorboard: histograms of the weights after each epoch
    log_json: bool  # write log.jsonl, one JSON object per line
    metrics_file: Text  # write figures in Prometheus text format to this file, every 5 s
    no_report: bool  # do not write report.html
    recipe: Text  # named set of defaults: plates, plates-fast, finetune, from-scratch, small-images, finetune-vit, finetune-convnext, from-scratch-vit, from-scratch-convnext
    config: Text  # YAML file with any of these settings
    resume: Text  # resume the run in this folder (auto: resume --experiment if it exists, else start it)
    accept_changed_data: bool  # with --resume: continue although the data has changed; the report says so


class PredictOptions(TypedDict, total=False):
    """Options of `stoker predict`."""

    weights: Text  # a run's folder, a folder with timm's config.json, a model file, or others' weights, with --model
    model: Text  # network of weights that do not say it, such as torchvision's files, e.g. mobilenet_v2
    class_names: Text  # with --model: text file with a class a line; not given: numbers from 0
    val_aa: Text  # with --model: what gives images their size, e.g. "resize_crop(232,224)" [default: imagenet-eval]
    allow_nonfinite: bool  # accept weights that are NaN or infinite
    split: Literal["train", "val", "test"]  # part of the data; not given: test, else val, else all. train and val of data that a run divided are that run's
    batch_size: int  # samples a batch; 0: 256 small images or 32 photographs [default: 0]
    max_pixels: int  # reject images with more pixels [default: 178956970]
    page: int  # page of a TIFF file with several, counted from 0 [default: 0]
    shuffle_window: int  # shards: number of shards whose samples are mixed [default: 16]
    shuffle_lanes: int  # shards: number of lanes; with a multiple of the number of ranks, each rank reads its own shards [default: 1]
    cache_dir: Text  # remote shards: cache folder (not given: the user's cache folder)
    cache_size: Text  # remote shards: size of the cache, e.g. 200GB [default: 64GiB]
    store_tries: int  # remote shards: download attempts per object [default: 8]
    store_timeout: Text  # remote shards: seconds without data before a download is repeated [default: 20]
    follow_redirects: bool  # remote shards over HTTP: follow redirects to other hosts
    label: Text  # table: column of the classes (not given: label, class or category)
    labels: Text  # table: columns of 0 and 1, one for each class, with commas between them; or one column of lists such as cat;dog
    target: Text  # table: columns of numbers to predict, with commas between them
    path_column: Text  # table: column of the images' paths (not given: path, file, filename, image, image_path, filepath or img, else the first)
    split_column: Text  # table: column with train, val or test (not given: split; none: no column)
    weight_column: Text  # table: column of weights, how much each image counts in the loss
    isolate: bool  # decode in locked-down processes, for files that are not trusted
    workers: int  # data-loading threads (0: one per available CPU, at least 2) [default: 0]
    threads: int  # compute threads (0: chosen from the model) [default: 0]
    device: Text  # auto, cpu, cuda or cuda:INDEX [default: auto]
    tta: int  # test-time augmentation: average over N versions of each image, itself and N-1 made by --tta-aa [default: 1]
    tta_aa: Text  # what makes the other versions; where it gives no size, after the usual framing [default: hflip(1)]
    on_error: Literal["report", "skip", "stop"]  # unreadable images: report them and end with exit code 1; skip: report them, exit code 0; stop at the first {report, skip, stop} [default: report]
    engine: Literal["libtorch", "openvino", "onnxruntime", "auto", "training"]  # libtorch; openvino or onnxruntime, if installed; auto: the fastest that `stoker eval --engine auto` found; training: as validation in training computes, to the last bit {libtorch, openvino, onnxruntime, auto, training} [default: libtorch]
    precision: Literal["auto", "float32", "bfloat16", "int8"]  # of the network; auto: float32; int8 needs `stoker calibrate` {auto, float32, bfloat16, int8} [default: auto]
    topk: int  # write only the N most probable classes (0: all classes, in columns) [default: 0]
    id: Literal["stem", "name", "path"]  # ids of a submission: the image's file name without its ending, with it, or its path [default: stem]
    positive: Text  # label of a submission: probability of this class (default: class name)
    where: Text  # only predictions like p<0.6 (the doubtful ones), p>=0.9, class=NAME
    grid: Text  # write a PNG file with the first 64 of them, class and confidence below
    force: bool  # overwrite files that exist


class EvaluateOptions(TypedDict, total=False):
    """Options of `stoker eval`."""

    weights: Text  # a run's folder, a folder with timm's config.json, a model file, or others' weights, with --model
    model: Text  # network of weights that do not say it, such as torchvision's files, e.g. mobilenet_v2
    class_names: Text  # with --model: text file with a class a line; not given: numbers from 0
    val_aa: Text  # with --model: what gives images their size, e.g. "resize_crop(232,224)" [default: imagenet-eval]
    allow_nonfinite: bool  # accept weights that are NaN or infinite
    split: Literal["train", "val", "test"]  # part of the data; not given: test, else val, else all. train and val of data that a run divided are that run's
    batch_size: int  # samples a batch; 0: 256 small images or 32 photographs [default: 0]
    max_pixels: int  # reject images with more pixels [default: 178956970]
    page: int  # page of a TIFF file with several, counted from 0 [default: 0]
    shuffle_window: int  # shards: number of shards whose samples are mixed [default: 16]
    shuffle_lanes: int  # shards: number of lanes; with a multiple of the number of ranks, each rank reads its own shards [default: 1]
    cache_dir: Text  # remote shards: cache folder (not given: the user's cache folder)
    cache_size: Text  # remote shards: size of the cache, e.g. 200GB [default: 64GiB]
    store_tries: int  # remote shards: download attempts per object [default: 8]
    store_timeout: Text  # remote shards: seconds without data before a download is repeated [default: 20]
    follow_redirects: bool  # remote shards over HTTP: follow redirects to other hosts
    label: Text  # table: column of the classes (not given: label, class or category)
    labels: Text  # table: columns of 0 and 1, one for each class, with commas between them; or one column of lists such as cat;dog
    target: Text  # table: columns of numbers to predict, with commas between them
    path_column: Text  # table: column of the images' paths (not given: path, file, filename, image, image_path, filepath or img, else the first)
    split_column: Text  # table: column with train, val or test (not given: split; none: no column)
    weight_column: Text  # table: column of weights, how much each image counts in the loss
    isolate: bool  # decode in locked-down processes, for files that are not trusted
    workers: int  # data-loading threads (0: one per available CPU, at least 2) [default: 0]
    threads: int  # compute threads (0: chosen from the model) [default: 0]
    device: Text  # auto, cpu, cuda or cuda:INDEX [default: auto]
    tta: int  # test-time augmentation: average over N versions of each image, itself and N-1 made by --tta-aa [default: 1]
    tta_aa: Text  # what makes the other versions; where it gives no size, after the usual framing [default: hflip(1)]
    on_error: Literal["report", "skip", "stop"]  # unreadable images: report them and end with exit code 1; skip: report them, exit code 0; stop at the first {report, skip, stop} [default: report]
    engine: Literal["libtorch", "openvino", "onnxruntime", "auto", "training"]  # libtorch; openvino or onnxruntime, if installed; auto: the fastest that `stoker eval --engine auto` found; training: as validation in training computes, to the last bit {libtorch, openvino, onnxruntime, auto, training} [default: libtorch]
    precision: Literal["auto", "float32", "bfloat16", "int8"]  # of the network; auto: float32; int8 needs `stoker calibrate` {auto, float32, bfloat16, int8} [default: auto]
    topk: int  # k of the top-k accuracy [default: 5]
    confusion_matrix: Text  # write it as a PNG file
    top_losses: Text  # write the images that the model is most wrong about as a PNG file, with where it looked (Grad-CAM)
    top_losses_count: int  # how many of them [default: 16]
    force: bool  # overwrite files that exist


class DoctorOptions(TypedDict, total=False):
    """Options of `stoker doctor`."""

    out: Text  # folder for doctor.json and doctor.html; not given: doctor-NAME, of the folder examined
    html: Text  # file for the page, instead of doctor.html
    write_list: Text  # write a list of the images to train on: those of train without error findings, one of each set of duplicates. Of a table, a name with .csv or .tsv keeps all columns
    force: bool  # overwrite files that exist
    max_pixels: int  # reject images with more pixels [default: 178956970]
    label: Text  # table: column of the classes (not given: label, class or category)
    labels: Text  # table: columns of 0 and 1, one for each class, with commas between them; or one column of lists such as cat;dog
    target: Text  # table: columns of numbers to predict, with commas between them
    path_column: Text  # table: column of the images' paths (not given: path, file, filename, image, image_path, filepath or img, else the first)
    split_column: Text  # table: column with train, val or test (not given: split; none: no column)
    weight_column: Text  # table: column of weights, how much each image counts in the loss
    min_side: int  # images with a shorter side are tiny [default: 32]
    max_ratio: float  # of the longer side to the shorter [default: 4]
    max_imbalance: float  # of the largest class to the smallest [default: 10]
    near: int  # bits in which the hashes of almost equal images may differ; -1: don't look [default: 8]
    mirrored: bool  # a mirrored image is almost equal too
    workers: int  # threads that decode [default: 2]
    weights: Text  # rank images that are probably mislabelled, by this model: a run's folder (best one of train --folds) or a model file
