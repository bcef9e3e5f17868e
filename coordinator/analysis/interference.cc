#include "coordinator/analysis/interference.h"

#include <cmath>
#include <string>

#include "absl/status/statusor.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/phase/spread.h"

namespace iobench {
namespace {

// The figures that one phase adds to a row.
struct BesideFigures {
  double rate = kNaN;
  double p50_us = kNaN;
  double p99_us = kNaN;
  double background_rate = kNaN;
  bool background_in_ops = false;
};

void SetLatency(const v1::Latency& latency, BesideFigures& figures) {
  if (latency.count() == 0) return;
  figures.p50_us = latency.p50();
  figures.p99_us = latency.p99();
}

// The load may have another unit than the victims.
BesideFigures FiguresOfParts(const v1::PhaseReport& phase, bool in_ops) {
  BesideFigures figures{.rate = 0};
  int victim_parts = 0;
  for (const v1::PartReport& part : phase.parts()) {
    if (part.background()) {
      const absl::StatusOr<const OperationSpec*> spec = FindOperation(part.operation());
      figures.background_in_ops = spec.ok() ? (*spec)->is_metadata() : part.bytes() == 0;
      figures.background_rate = figures.background_in_ops ? part.ops_per_s() : part.bytes_per_s();
      continue;
    }
    figures.rate += in_ops ? part.ops_per_s() : part.bytes_per_s();
    if (++victim_parts == 1) SetLatency(part.latency_us(), figures);
  }
  // Percentiles of several parts cannot be joined.
  if (victim_parts != 1) figures.p50_us = figures.p99_us = kNaN;
  return figures;
}

BesideFigures FiguresBeside(const v1::PhaseReport& phase, bool in_ops) {
  if (!phase.parts().empty()) return FiguresOfParts(phase, in_ops);
  BesideFigures figures{.rate = in_ops ? phase.headline().ops_per_s() : phase.headline().bytes_per_s()};
  SetLatency(phase.latency_us(), figures);
  return figures;
}

v1::InterferenceReport* InterferenceWith(const v1::Interference& planned, v1::RunReport& report) {
  for (v1::InterferenceReport& each : *report.mutable_interference()) {
    if (each.phase() == planned.phase()) return &each;
  }
  return nullptr;
}

v1::InterferenceRow* RowBeside(const std::string& background, v1::InterferenceReport& report) {
  for (v1::InterferenceRow& row : *report.mutable_rows()) {
    if (row.background() == background) return &row;
  }
  return nullptr;
}

void CompareWithUndisturbed(v1::InterferenceReport& report) {
  const v1::InterferenceRow* const undisturbed = RowBeside("", report);
  for (v1::InterferenceRow& row : *report.mutable_rows()) {
    const bool has_rate = undisturbed != nullptr && undisturbed->rate() > 0;
    const bool has_p99 = undisturbed != nullptr && undisturbed->p99_us() > 0;
    row.set_of_undisturbed(has_rate ? row.rate() / undisturbed->rate() : kNaN);
    row.set_p99_factor(has_p99 ? row.p99_us() / undisturbed->p99_us() : kNaN);
  }
}

}  // namespace

void BeginInterference(v1::RunReport& report) {
  report.clear_interference();
  for (const v1::Phase& phase : report.run().plan().phases()) {
    if (!phase.has_interference()) continue;
    const v1::Interference& planned = phase.interference();
    v1::InterferenceReport* entry = InterferenceWith(planned, report);
    if (entry == nullptr) {
      entry = report.add_interference();
      entry->set_phase(planned.phase());
      entry->set_victims(planned.victims());
      entry->set_by_worker(planned.by_worker());
      entry->set_in_ops(IsMetadata(phase));
    }
    if (RowBeside(planned.background(), *entry) != nullptr) continue;
    v1::InterferenceRow& row = *entry->add_rows();
    row.set_background(planned.background());
    row.set_others(planned.others());
    row.set_rate(kNaN);
    row.set_p50_us(kNaN);
    row.set_p99_us(kNaN);
    row.set_background_rate(kNaN);
    CompareWithUndisturbed(*entry);
  }
}

void UpdateInterference(const v1::PhaseReport& phase, v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  if (report.interference().empty() || plan.phases().empty()) return;
  const v1::Phase& planned = *PlannedPhase(plan, phase);
  if (!planned.has_interference()) return;
  v1::InterferenceReport* const entry = InterferenceWith(planned.interference(), report);
  v1::InterferenceRow* const row =
      entry == nullptr ? nullptr : RowBeside(planned.interference().background(), *entry);
  if (row == nullptr) return;
  if (planned.interference().background().empty()) entry->set_in_ops(phase.headline_in_ops());
  if (!phase.not_whole().empty()) return;
  const BesideFigures figures = FiguresBeside(phase, entry->in_ops());
  if (!std::isfinite(figures.rate)) return;
  const uint32_t count = row->count();
  row->set_rate(MeanWith(row->rate(), count, figures.rate));
  row->set_p50_us(MeanWith(row->p50_us(), count, figures.p50_us));
  row->set_p99_us(MeanWith(row->p99_us(), count, figures.p99_us));
  row->set_background_rate(MeanWith(row->background_rate(), count, figures.background_rate));
  row->set_background_in_ops(figures.background_in_ops);
  row->set_count(count + 1);
  CompareWithUndisturbed(*entry);
}

}  // namespace iobench
