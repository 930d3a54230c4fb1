import { create, get, type Operation, remove } from '../operation.ts';

const logins = '/v1/logins';

/** Login requests (docs/protocol.md §5.20). */
export const loginOperations = {
  createLogin: create(logins, 'public', {
    summary: 'Ask for a management token, which an admin approves by the code in the answer',
    body: 'loginCreation',
    bodyLimit: 16 * 1024,
    answer: 'createdLogin',
    headers: ['Idempotency-Key'],
    errors: ['too_many_attempts'],
  }),
  getLoginStatus: get(`${logins}/:code/status`, 'public', {
    summary: 'Get the status of a login request; waitSeconds holds the answer until its approval',
    query: 'claimStatusQuery',
    answer: 'loginStatus',
    errors: ['login_not_found'],
  }),
  endLogin: remove(`${logins}/:code`, 'public', {
    summary: 'End a login request, and delete the token of its approval',
    errors: ['login_not_found'],
  }),
  getLogin: get(`${logins}/:code`, 'admin', {
    summary: 'Get what is known of a login request',
    record: 'login',
    answer: 'login',
    errors: ['too_many_attempts'],
  }),
  approveLogin: create(`${logins}/:code/approve`, 'admin', {
    summary: 'Give a new management token to a login request; only the asker can read it',
    record: 'login',
    headers: ['Idempotency-Key'],
    body: 'loginApproval',
    answer: 'token',
    errors: ['login_approved', 'venue_not_found', 'name_taken', 'too_many_attempts'],
    command: ['token', 'approve'],
  }),
} satisfies Record<string, Operation>;
