import { SignageError } from '../domain/error.ts';
import type { Operation } from '../wire/operations.ts';
import { findMisfit } from './shape-mismatch.ts';
import { asObject, type Reply } from './problem.ts';
import { shapes } from './shapes.ts';

/** The body of a successful answer, if it is what the operation promises; `undefined` where it promises none. Throws `unexpected_answer`. */
export function readAnswer(operation: Operation, reply: Reply, service: string): unknown {
  if (operation.answer === undefined || reply.status === 304) return undefined;
  const answer = asObject(reply.text);
  const misfit = answer && findMisfit(shapes[operation.answer] ?? 'object', answer);
  if (answer && misfit === undefined) return answer;
  const what = answer ? `without a usable "${misfit}"` : 'no JSON object';
  throw new SignageError(
    'unexpected_answer',
    `${service} answered ${reply.status} with ${what}. Is it a signage service?`,
  );
}
