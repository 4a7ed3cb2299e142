"""Attention without padding, and layers that run as CUDA graphs, against the layers as they are.

On a GPU with the kernels; on the CPU with a loop in the kernel's place, and layers that are run and not recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fencepost.config.settings import Config
from fencepost.model.bert import Bert
from fencepost.model.build import build_model
from fencepost.model.cuda import available
from fencepost.model.cuda.available import OLDEST, has_triton
from fencepost.model.cuda.graphs import LONGEST, CudaGraphs, _capacity, _filled, _Recordable
from fencepost.model.dropout import SharedDropout
from fencepost.model.encoder import SelfAttentiveEncoder
from fencepost.model.heads import HeadSizes, roles
from fencepost.model.plan import AttentionPlan, Reach
from fencepost.model.precision import lower
from fencepost.model.pretrained import Pretrained
from fencepost.model.sequences import Layout
from tests.model.model_samples import SIZES, layout_of, small_config
from tests.pretrained_samples import pretrained_files

HAS_KERNELS = has_triton() and torch.cuda.is_available() and torch.cuda.get_device_capability() >= OLDEST
ON_A_GPU = pytest.mark.skipif(not HAS_KERNELS, reason="is about a GPU")
KINDS = pytest.mark.parametrize("kind", ["dense", "block", "position"])
PLANS = pytest.mark.parametrize("plan", [AttentionPlan(), AttentionPlan(2), AttentionPlan(7), AttentionPlan(7, True)])

EIGHT = HeadSizes(8, 64, 64)


def encoder(kind: str, dropout: float = 0.0) -> SelfAttentiveEncoder:
    """As strong as after training."""
    projection, reads = (
        ("block", "input") if kind == "block" else ("dense", "position" if kind == "position" else "input")
    )
    sizes = {"d_model": 64, "d_k": 16, "d_v": 16, "d_ff": 128, "max_length": 64}
    config: Config = small_config(["words"], projection=projection, reads=reads, **sizes)
    drop = replace(config.encoder, attention_dropout=dropout, relu_dropout=dropout, residual_dropout=dropout)
    torch.manual_seed(0)
    found = build_model(replace(config, encoder=drop), SIZES).encoder
    assert isinstance(found, SelfAttentiveEncoder)
    for layer in found.layers:
        for weight in layer.get_submodule("attention").parameters():
            weight.data.mul_(30)
    return found.train()


def encoder_on_gpu(kind: str, dropout: float = 0.0) -> SelfAttentiveEncoder:
    found = encoder(kind, dropout)
    lower(found)
    found.cuda()
    assert found.layers.need_no_mask()
    return found


def inputs(*lengths: int, device: str = "cpu") -> tuple[Tensor, Layout]:
    torch.manual_seed(2)
    return torch.randn(sum(lengths), 32).to(device), Layout.of(np.array(lengths), torch.device(device))


def on_gpu(*lengths: int) -> tuple[Tensor, Layout]:
    return inputs(*lengths, device="cuda")


def run(model: SelfAttentiveEncoder, content: Tensor, layout: Layout, plan: AttentionPlan) -> list[Tensor]:
    """What comes out, and all gradients."""
    content = content.clone().requires_grad_()
    y = model(content, layout, plan)
    weight = torch.linspace(-1, 1, y.numel(), device=y.device).view_as(y)
    used = [parameter for parameter in model.parameters() if parameter.requires_grad]
    gradients = torch.autograd.grad((y * weight).sum(), [content, *used], allow_unused=True)
    return [y.detach().clone(), *(torch.zeros(1) if gradient is None else gradient.float() for gradient in gradients)]


def assert_near(found: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one - other).norm() <= tolerance * (1e-3 + other.norm())


@pytest.fixture
def new_gpu(monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """One that nobody computes on."""
    monkeypatch.setattr("fencepost.model.cuda.available.has_triton", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: OLDEST)
    return torch.device("cuda")


@pytest.mark.parametrize(
    ("sizes", "dtype", "has_kernels"),
    [
        ((64, 64), torch.bfloat16, True),
        ((64, 64), torch.float32, True),
        ((64, 64), torch.float64, False),
        ((64, 32), torch.bfloat16, True),
        ((5, 36), torch.float16, True),
        ((256, 256), torch.bfloat16, True),
        ((257, 16), torch.bfloat16, False),
        ((16, 129), torch.float32, False),
    ],
)
def test_the_kernels_serve_heads_up_to_a_size(
    new_gpu: torch.device, sizes: tuple[int, int], dtype: torch.dtype, has_kernels: bool
) -> None:
    assert available.attention(HeadSizes(8, *sizes), dtype, new_gpu) == has_kernels


def test_the_kernels_are_not_on_the_cpu(new_gpu: torch.device) -> None:
    assert available.attention(EIGHT, torch.bfloat16, new_gpu)
    assert not available.attention(EIGHT, torch.bfloat16, torch.device("cpu"))


def test_an_old_gpu_has_no_kernels(new_gpu: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    assert not available.attention(EIGHT, torch.bfloat16, new_gpu)


def test_without_triton_there_are_no_kernels(new_gpu: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.model.cuda.available.has_triton", lambda: False)
    assert not available.attention(EIGHT, torch.bfloat16, new_gpu)


def run_padded(model: SelfAttentiveEncoder, content: Tensor, layout: Layout, plan: AttentionPlan) -> list[Tensor]:
    """With a mask, whether it is needed or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AttentionPlan, "needs_mask", lambda *_: True)
        return run(model, content, layout, plan)


@ON_A_GPU
@KINDS
@PLANS
def test_attention_without_padding_is_that_with_a_mask(kind: str, plan: AttentionPlan) -> None:
    model, (content, layout) = encoder_on_gpu(kind), on_gpu(3, 40, 2, 17, 1)
    assert_near(run(model, content, layout, plan), run_padded(model, content, layout, plan), 0.03)


@ON_A_GPU
@KINDS
@PLANS
def test_attention_in_fp32_without_padding_is_that_with_a_mask(kind: str, plan: AttentionPlan) -> None:
    model, (content, layout) = encoder(kind).cuda(), on_gpu(3, 40, 2, 17, 1)
    assert model.layers.need_no_mask()
    assert_near(run(model, content, layout, plan), run_padded(model, content, layout, plan), 1e-4)


@ON_A_GPU
@KINDS
@PLANS
def test_recorded_layers_give_the_same_as_the_layers(kind: str, plan: AttentionPlan) -> None:
    model = encoder_on_gpu(kind)
    graphs = CudaGraphs(model.layers)
    for lengths in ([3, 40, 2], [9], [3, 40, 2], [60] * 20, [7] * 70, [9]):
        content, layout = on_gpu(*lengths)
        model.cuda_graphs = None
        expected = run(model, content, layout, plan)
        model.cuda_graphs = graphs
        assert_near(run(model, content, layout, plan), expected, 0.02)


@ON_A_GPU
def test_recorded_dropout_depends_on_the_seed_alone() -> None:
    model, (content, layout) = encoder_on_gpu("block", dropout=0.3), on_gpu(5, 20)
    model.cuda_graphs = CudaGraphs(model.layers)

    def drawn(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return run(model, content, layout, AttentionPlan())[0]

    first, second, other = drawn(1), drawn(1), drawn(2)  # the first of them records
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def attend_one_by_one(
    parts: Sequence[Tensor], sizes: HeadSizes, starts: Tensor, dropout: float, reach: Reach, distances: None = None
) -> Tensor:
    """What the kernels do, in a loop."""
    assert distances is None
    blocks = len(parts[0])
    rows = [
        role.unflatten(-1, (sizes.heads, -1)).permute(2, 1, 0, 3).flatten(-2) for role in roles(parts, sizes)
    ]  # [heads, R, d]
    averages = []
    for first, end in zip(starts.tolist(), starts.tolist()[1:], strict=False):
        q, k, v = (tensor[:, first:end] for tensor in rows)
        mask = AttentionPlan(*reach).mask(torch.tensor([end - first]), end - first)[0]
        averages.append(F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=sizes.scale))
    by_blocks: Tensor = torch.cat(averages, 1).unflatten(-1, (blocks, -1)).permute(2, 1, 0, 3)
    return by_blocks.flatten(-2)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[_Recordable]:
    """What was recorded, in a world where the CPU has the kernels and can record."""
    found: list[_Recordable] = []

    def record(_: CudaGraphs, layers: _Recordable, samples: tuple[Tensor, ...]) -> _Recordable:
        found.append(layers)
        return layers

    monkeypatch.setattr("fencepost.model.cuda.available.attention", lambda *_: True)
    monkeypatch.setattr("fencepost.model.attention.attend_packed", attend_one_by_one)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    monkeypatch.setattr(CudaGraphs, "_record", record)
    return found


@pytest.mark.usefixtures("recorded")
@KINDS
@PLANS
def test_layers_without_padding_give_the_same_as_layers_with_it(kind: str, plan: AttentionPlan) -> None:
    model, (content, layout) = encoder(kind), inputs(3, 40, 2, 17, 1)
    assert_near(run(model, content, layout, plan), run_padded(model, content, layout, plan), 1e-4)


def test_sentences_that_are_too_long_need_a_mask() -> None:
    layout = layout_of(5, 30)
    for plan in (AttentionPlan(), AttentionPlan(window=3, relaxed=True), AttentionPlan(longest=32)):
        assert not plan.needs_mask(layout)
    assert AttentionPlan(longest=29).needs_mask(layout)


@KINDS
def test_layers_filled_up_with_rows_give_the_same_as_the_layers(recorded: list[_Recordable], kind: str) -> None:
    model = encoder(kind)
    graphs = CudaGraphs(model.layers)
    for lengths in ([3, 40, 2], [64] * 2, [7] * 70, [3, 40, 2]):
        content, layout = inputs(*lengths)
        model.cuda_graphs = None
        expected = run(model, content, layout, AttentionPlan())
        model.cuda_graphs = graphs
        assert_near(run(model, content, layout, AttentionPlan()), expected, 1e-4)
    assert len(recorded) == 2  # [64] * 2 needs no spare row, and shares a capacity with [3, 40, 2]


def test_each_plan_has_graphs_of_its_own(recorded: list[_Recordable]) -> None:
    model, (content, layout) = encoder("block"), inputs(5, 9)
    plans = AttentionPlan(), AttentionPlan(content=(2,))
    expected = [run(model, content, layout, plan) for plan in plans]
    model.cuda_graphs = CudaGraphs(model.layers)
    for plan, without in zip(plans, expected, strict=True):
        assert_near(run(model, content, layout, plan), without, 1e-4)
    assert [layers.how for layers in recorded] == [(plan,) for plan in plans]


def test_nothing_is_recorded_where_there_are_no_gradients(recorded: list[_Recordable]) -> None:
    model, (content, layout) = encoder("block"), inputs(5, 9)
    model.cuda_graphs = CudaGraphs(model.layers)
    with torch.no_grad():
        model(content, layout, AttentionPlan())
    model.eval()(content, layout, AttentionPlan())
    assert recorded == []


def test_a_sequence_too_long_for_graphs_is_not_recorded(recorded: list[_Recordable]) -> None:
    model, (content, layout) = encoder("block"), inputs(LONGEST + 1, 2)
    model.cuda_graphs = CudaGraphs(model.layers)
    assert len(model(content, layout, AttentionPlan())) == LONGEST + 3
    assert recorded == []


def test_no_more_is_recorded_than_memory_allows(recorded: list[_Recordable], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.model.cuda.graphs.MOST", 1)
    model = encoder("block")
    model.cuda_graphs = CudaGraphs(model.layers)
    for lengths in ([4], [2] * 70, [5]):
        model(*inputs(*lengths), AttentionPlan())
    assert [layers.count for layers in recorded] == [64]


def test_spare_rows_are_short_sequences_before_empty_ones() -> None:
    sequence, starts = _filled(layout_of(2, 3), used=5, rows=75, count=6)
    assert sequence.tolist() == [0, 0, 1, 1, 1, *[5] * 70]
    assert starts.tolist() == [0, 2, 5, 37, 69, 75, 75]
    assert starts.dtype == torch.int32


@pytest.mark.parametrize("sentences", [1, 47, 48, 49, 64, 250])
@pytest.mark.parametrize("length", [1, 9, 20])
def test_there_are_sequences_enough_for_all_spare_rows(
    recorded: list[_Recordable], sentences: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Tensor] = []

    def forward(_: _Recordable, *filled: Tensor) -> Tensor:
        seen.append(filled[-1])
        return filled[0]

    monkeypatch.setattr(_Recordable, "forward", forward)
    layout = layout_of(*[length] * sentences)
    rows = torch.zeros(sentences * length, 4)
    assert len(CudaGraphs(torch.nn.Identity())((rows,), layout)) == len(rows)
    assert seen[0][-1] == _capacity(len(rows))
    assert (seen[0].diff() >= 0).all()
    assert len(seen[0]) == recorded[0].count + 1


def test_what_is_dropped_does_not_depend_on_what_was_recorded_before(
    recorded: list[_Recordable], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.model.cuda.graphs.MOST", 1)
    model, (content, layout) = encoder("block", dropout=0.3), inputs(*[2] * 70)
    model.cuda_graphs = CudaGraphs(model.layers)

    def drawn() -> Tensor:
        torch.manual_seed(2)
        encoded: Tensor = model(content, layout, AttentionPlan())
        return encoded

    first = drawn()  # recorded
    model.cuda_graphs = CudaGraphs(model.layers)
    model(*inputs(4), AttentionPlan())  # and now there is no room for more
    assert torch.equal(first, drawn())
    assert len(recorded) == 2


def test_layers_that_cannot_be_recorded_run_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: capture failed\nand more")

    monkeypatch.setattr("fencepost.model.cuda.available.attention", lambda *_: True)
    monkeypatch.setattr("fencepost.model.attention.attend_packed", attend_one_by_one)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    monkeypatch.setattr(torch.cuda, "make_graphed_callables", fail)
    monkeypatch.setattr(torch.random, "fork_rng", lambda devices: nullcontext())
    model, (content, layout) = encoder("block"), inputs(5, 9)
    expected = run(model, content, layout, AttentionPlan())
    model.cuda_graphs = CudaGraphs(model.layers)
    with pytest.warns(UserWarning, match=r"no CUDA graph could be recorded.*capture failed$"):
        found = run(model, content, layout, AttentionPlan())
    assert_near(found, expected, 1e-4)
    assert_near(run(model, content, layout, AttentionPlan()), expected, 1e-4)  # warned of once


@pytest.mark.parametrize("mix", [False, True])
def test_layers_of_bert_are_recorded_with_their_mix(recorded: list[_Recordable], mix: bool) -> None:
    quiet = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    torch.manual_seed(0)
    bert = Bert(pretrained_files("bert", **quiet).encoder)
    model = Pretrained(bert, 8, SharedDropout(0.0, True), frozen=False, mix=mix).train()
    layout = Layout.of(np.array([5, 9]), torch.device("cpu"))
    subwords = torch.arange(14) % 13

    def vectors_and_gradients() -> list[Tensor]:
        vectors = model._in_context(subwords, layout)
        used = [*bert.parameters(), *(model.mix.parameters() if model.mix is not None else ())]
        return [vectors, *torch.autograd.grad(vectors.square().sum(), used)]

    expected = vectors_and_gradients()
    layers = model.to_record()
    assert layers is not None
    model.cuda_graphs = CudaGraphs(layers)
    assert_near(vectors_and_gradients(), expected, 1e-4)
    assert len(recorded) == 1


def test_a_frozen_encoder_is_not_recorded() -> None:
    bert = Bert(pretrained_files("bert").encoder)
    assert Pretrained(bert, 8, SharedDropout(0.0, True), frozen=True, mix=True).to_record() is None
