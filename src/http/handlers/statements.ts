import type { Services } from '../../service/assembly/services.ts';
import type { Handlers } from '../request/pipeline.ts';
import { result } from './replies.ts';

/** Handlers of statements (docs/protocol.md §5.19). */
export function statementHandlers({ statements }: Services) {
  return {
    startStatements: ({ principal, body }) => result(statements.start(principal, body)),
    listStatements: ({ principal, query }) => result(statements.list(principal, query)),
    getStatementRows: async ({ principal, query }) => ({
      body: ReadableStream.from(await statements.rows(principal, query.id)),
      type: 'application/x-ndjson',
    }),
    resumeStatements: ({ principal, body }) => result(statements.resume(principal, body)),
    getStatementKeys: async ({ id }) => ({
      body: await statements.keys(id),
      type: 'text/plain; charset=utf-8',
    }),
  } satisfies Partial<Handlers>;
}
