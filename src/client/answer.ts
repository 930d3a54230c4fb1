import { SignageError } from '../domain/error.ts';
import type { Operation } from '../wire/operations.ts';
import { asObject, type Reply } from './problem.ts';
import { findMismatch } from './shape-mismatch.ts';
import { shapes } from './shapes.ts';

/**
 * Returns the parsed body of a successful response, or `undefined` if the operation has no body or
 * the status is 304. Throws `unexpected_answer` if the body does not match the operation's shape.
 */
export function readAnswer(operation: Operation, reply: Reply, service: string): unknown {
  if (operation.answer === undefined || reply.status === 304) return undefined;
  const answer = asObject(reply.text);
  const mismatch = answer && findMismatch(shapes[operation.answer] ?? 'object', answer);
  if (answer && mismatch === undefined) return answer;
  const problem = answer ? `without a usable "${mismatch}"` : 'no JSON object';
  throw new SignageError(
    'unexpected_answer',
    `${service} answered ${reply.status} with ${problem}. Is it a signage service?`,
  );
}
