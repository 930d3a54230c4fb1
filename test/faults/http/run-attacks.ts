import { type Aim, type Attack, attack } from './attack.ts';

/** Returns the records that an attack must not change. */
async function contents(url: string, { token }: Aim): Promise<string> {
  const read = async (path: string) => {
    const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
    return `${path} ${answer.status} ${await answer.text()}\n`;
  };
  const paths = [
    '/v1/venues?limit=200',
    '/v1/screens?limit=200',
    '/v1/events?limit=200',
    '/v1/audit?limit=200',
    '/v1/tokens?limit=200',
  ];
  const parts = await Promise.all(paths.map(read));
  return parts.join('').replaceAll(/"(lastUsedAt|lastSeenAt)":"[^"]*"/g, '');
}

/** Returns whether the service still works. */
async function isWell(url: string, { key, screenId }: Aim): Promise<boolean> {
  const answer = await fetch(`${url}/devices/${screenId}/config`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  return answer.status === 200;
}

/** Runs all attacks, some concurrently. Returns the violations. */
export async function runAttacks(
  url: string,
  aim: Aim,
  attacks: readonly Attack[],
  atOnce = 8,
): Promise<string[]> {
  const before = await contents(url, aim);
  const findings: string[] = [];
  const left = [...attacks];
  const work = async () => {
    for (let one = left.shift(); one; one = left.shift())
      findings.push(...(await attack(url, one)));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if ((await contents(url, aim)) !== before) findings.push('something was stored');
  if (!(await isWell(url, aim))) findings.push('the service does not work afterwards');
  return findings;
}
