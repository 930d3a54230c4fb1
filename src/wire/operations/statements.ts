import { get, type Operation, post } from '../operation.ts';

/** Signed statements of plays (docs/protocol.md §5.19). */
export const statementOperations = {
  startStatements: post('/v1/statements', 'admin', {
    summary: 'Start the statements of a campaign, or change when they are sealed',
    wholeTenant: true,
    body: 'statementStart',
    answer: 'statementLog',
    errors: ['not_supported'],
    command: ['statement', 'start'],
  }),
  listStatements: get('/v1/statements', 'viewer', {
    summary: 'List the signed heads of statements by number, and the state of sealing',
    wholeTenant: true,
    query: 'statementQuery',
    answer: 'statementList',
    command: ['statement', 'list'],
  }),
  getStatementRows: get('/v1/statements/rows', 'viewer', {
    summary: 'Get the rows of a statement, as NDJSON',
    wholeTenant: true,
    query: 'statementRowsQuery',
    errors: ['statement_not_found'],
    command: ['statement', 'export'],
  }),
  resumeStatements: post('/v1/statements/resume', 'admin', {
    summary: 'Continue statements after a restore, or with another key',
    wholeTenant: true,
    body: 'statementResume',
    answer: 'statementLog',
    errors: ['not_supported', 'statement_not_found'],
    command: ['statement', 'resume'],
  }),
  getStatementKeys: get('/statement-keys/:id', 'public', {
    summary: 'Get the keys that verify the statements of a tenant, one a line',
    errors: ['statement_not_found'],
    command: ['statement', 'key'],
  }),
} satisfies Record<string, Operation>;
