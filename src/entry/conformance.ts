/// <reference types="node" preserve="true" />
// `signage-kit/conformance`: checks of a deployment against docs/protocol.md.
export type { Level, Need, Outcome } from '../conformance/fixture/check.ts';
export type { ConformanceOptions } from '../conformance/options.ts';
export type { Deployment } from '../conformance/rights.ts';
export { runConformance } from '../conformance/run-conformance.ts';
export type { TvCheckLevel, TvCheckOutcome } from '../exam/checks/check.ts';
export type {
  RefusedRequest,
  SavedTvExam,
  TvExamMemory,
  TvExamOptions,
  TvExamPhases,
  TvExamStep,
  TvPower,
} from '../exam/parts/options.ts';
export type { PartId } from '../exam/parts/part-ids.ts';
export type { TvExamReport } from '../exam/report.ts';
export { runTvExam } from '../exam/run-exam.ts';
