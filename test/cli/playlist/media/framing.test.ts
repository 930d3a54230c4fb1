import { describe, expect, it } from 'vitest';
import { framingProblem } from '../../../../src/cli/examination/page-checks.ts';

const page = new URL('https://menu.example.com/today');
const problemOf = (headers: Record<string, string>, player = 'https://signage.example.com') => {
  const reply = { status: 200, headers, body: Buffer.alloc(0), isWhole: true };
  return framingProblem({ url: page, reply }, new URL(player));
};
const refuses = (...page: Parameters<typeof problemOf>) => problemOf(...page) !== undefined;
const policy = (value: string) => ({ 'content-security-policy': value });

describe('X-Frame-Options', () => {
  it.each([
    ['DENY', true],
    ['sameorigin', true],
    ['SAMEORIGIN, SAMEORIGIN', true],
    ['ALLOWALL, DENY', true],
    ['ALLOWALL, foo', true],
    ['ALLOWALL', false],
    ['ALLOW-FROM https://signage.example.com', false],
    ['', false],
  ])('"%s" refuses a player of another origin: %s', (header, isRefused) => {
    expect(refuses({ 'x-frame-options': header })).toBe(isRefused);
  });

  it('SAMEORIGIN allows a player of the same origin', () => {
    expect(refuses({ 'x-frame-options': 'SAMEORIGIN' }, page.origin)).toBe(false);
  });

  it.each(['DENY', 'SAMEORIGIN'])('is named in the problem: %s', (header) => {
    const problem = problemOf({ 'x-frame-options': header });
    expect(problem).toMatchObject({ level: 'error', check: 'framing' });
    expect(problem?.detail).toContain(`X-Frame-Options: ${header}`);
  });

  it('is ignored beside frame-ancestors', () => {
    const headers = { 'x-frame-options': 'DENY', ...policy('frame-ancestors *') };
    expect(refuses(headers)).toBe(false);
  });
});

describe('frame-ancestors', () => {
  it.each([
    ["'none'", true],
    ['', true],
    ["'self'", true],
    ['*', false],
    ['https:', false],
    ['http:', false],
    ['wss:', true],
    ['https://signage.example.com', false],
    ['HTTPS://SIGNAGE.EXAMPLE.COM', false],
    ['http://signage.example.com', false],
    ['signage.example.com', false],
    ['signage.example.com:443', false],
    ['signage.example.com:*', false],
    ['signage.example.com:8443', true],
    ['https://signage.example.com/', false],
    ['*.example.com', false],
    ['https://*.example.com', false],
    ['*.signage.example.com', true],
    ['https://example.com', true],
    ['https://other.example.org https://signage.example.com', false],
  ])('"%s" refuses https://signage.example.com: %s', (sources, isRefused) => {
    expect(refuses(policy(`default-src 'none'; Frame-Ancestors ${sources};`))).toBe(isRefused);
  });

  it.each([
    ['https://menu.example.com', "'self'", false],
    ['http://192.0.2.7:4100', 'http://192.0.2.7:4100', false],
    ['http://192.0.2.7:4100', 'http://192.0.2.7', true],
    ['http://192.0.2.7:4100', 'https:', true],
  ])('for the player %s, "%s" refuses: %s', (player, sources, isRefused) => {
    expect(refuses(policy(`frame-ancestors ${sources}`), player)).toBe(isRefused);
  });

  it('must be met in each of several policies', () => {
    const header = 'frame-ancestors *, frame-ancestors https://other.example';
    expect(refuses(policy(header))).toBe(true);
  });

  it('is absent in other policies', () => {
    expect(refuses(policy("default-src 'none'"))).toBe(false);
  });
});
