import type { Aim } from './attack.ts';

/**
 * Sends bodies with duplicate members, or with names that are special in JavaScript. They are
 * accepted, and only the validated value may be stored.
 */
export async function memberAttacks(url: string, { token, key, screenId }: Aim): Promise<string[]> {
  const findings: string[] = [];
  const send = async (method: string, path: string, bearer: string, body?: string) => {
    const headers = {
      Authorization: `Bearer ${bearer}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const answer = await fetch(`${url}${path}`, { method, headers, body: body ?? null });
    return { status: answer.status, text: await answer.text() };
  };
  const venue = async (what: string, body: string, members: Record<string, unknown>) => {
    const { status, text } = await send('POST', '/v1/venues', token, body);
    const made = status === 201 ? JSON.parse(text) : {};
    const wrong = Object.entries(members).filter(
      ([name, value]) => JSON.stringify(made[name]) !== JSON.stringify(value),
    );
    for (const [name, value] of wrong)
      findings.push(
        `${what}: ${status}, ${name} is ${JSON.stringify(made[name])}, not ${JSON.stringify(value)}`,
      );
  };
  const proto = '{"timezone":"Europe/Berlin","address":"polluted"}';
  const untouched = { timezone: null, address: null, labels: {} };
  await venue(
    '__proto__',
    `{"name":"Proto","__proto__":${proto},"labels":{"__proto__":"x"}}`,
    untouched,
  );
  await venue(
    '__proto__ in disguise',
    `{"name":"Disguise","\\u005f\\u005fproto\\u005f_":${proto}}`,
    untouched,
  );
  await venue('a venue after them', '{"name":"After"}', untouched);
  await venue('two names', '{"name":"First","name":"Last"}', { name: 'Last' });
  const events =
    '[{"type":"log","timestamp":1760000000,"note":"first","type":"heartbeat","note":"last","half":"\\ud800","__proto__":{"note":"proto"}}]';
  const posted = await send('POST', `/devices/${screenId}/events`, key, events);
  const { text: kept } = await send('GET', '/v1/events', token);
  if (posted.status !== 202) findings.push(`an event with duplicate members: ${posted.status}`);
  if (!kept.includes('"note":"last"'))
    findings.push('an event with duplicate members was not kept as it was checked');
  if (!kept.includes('"half":"\\ud800"'))
    findings.push('half a character was not kept as it was sent');
  for (const other of ['first', 'proto', '"log"'])
    if (kept.includes(other)) findings.push(`an event with duplicate members kept ${other}, too`);
  return findings;
}
