import type { TestService } from './service.ts';

/** Returns all lists of a small tenant, to prove that something changed nothing. */
export async function snapshot(service: TestService): Promise<Record<string, unknown>> {
  const paths = ['/v1/venues', '/v1/screens', '/v1/devices', '/v1/events', '/v1/audit'];
  const answers = await Promise.all(
    paths.map((path) => service.manage('GET', `${path}?limit=200`)),
  );
  return Object.fromEntries(paths.map((path, index) => [path, answers[index]?.body]));
}
