import { type Clock, iso, isoOrNull, secondMs } from '../../domain/clock.ts';
import { cached } from '../../domain/concurrency.ts';
import { SignageError } from '../../domain/error.ts';
import type { OriginHealth } from '../../origin/origin.ts';
import type { Store } from '../../store/store.ts';
import { clocksDiffer } from '../clock-watch.ts';
import { deletionsWaitSince } from '../confirmed-time.ts';
import type { MirrorLag } from '../mirror/mirror.ts';

/** State of one component, as `GET /readyz?verbose` reports it (docs/protocol.md §7). */
interface Component {
  /** `store`, `clock`, `origin/<name>` or `mirror`. */
  component: string;
  /** `open`: its circuit breaker is open. */
  status: 'ok' | 'failing' | 'open';
  [figure: string]: unknown;
}

export interface Readiness {
  /** Whether the service accepts changes, which depends on its store alone. */
  isReady: boolean;
  components: Component[];
}

function originComponent({
  name,
  state,
  sinceMs,
  lastError,
  counts,
  latencyMs,
}: OriginHealth): Component {
  return {
    component: `origin/${name}`,
    status: state,
    since: iso(sinceMs),
    lastError: lastError && { code: lastError.code, at: iso(lastError.atMs) },
    counts,
    latencyMs: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
  };
}

function mirrorComponent({ pending, oldestMs, failures, isFailing }: MirrorLag): Component {
  return {
    component: 'mirror',
    status: isFailing ? 'failing' : 'ok',
    pending,
    oldest: isoOrNull(oldestMs),
    failures,
  };
}

/** Lifetime of a cached readiness check. */
const readinessLifetimeMs = 250;

/**
 * Returns a check that resolves if the store accepts changes, and otherwise throws `unavailable`.
 * Calls share checks, because the endpoint needs no credential.
 */
export function makeReadiness(store: Pick<Store, 'ready'>, clock: Clock): () => Promise<void> {
  return cached(clock, readinessLifetimeMs, () => store.ready());
}

type ClockStore = Pick<Store, 'aheadMs' | 'now' | 'read'>;

async function clockComponent(store: ClockStore): Promise<Component> {
  const aheadMs = store.aheadMs();
  const status = clocksDiffer(aheadMs) ? 'failing' : 'ok';
  // The component `store` tells that the store cannot be read.
  const waitSince = await deletionsWaitSince(store.read, store.now()).catch(() => null);
  return {
    component: 'clock',
    status,
    storeAheadSeconds: Math.round(aheadMs / secondMs),
    ...(waitSince !== null && { deletionsWaitSince: iso(waitSince) }),
  };
}

async function storeComponent(ready: () => Promise<void>): Promise<Component> {
  const component = 'store';
  try {
    await ready();
    return { component, status: 'ok' };
  } catch (error) {
    return {
      component,
      status: 'failing',
      why: error instanceof SignageError ? error.message : 'It cannot store changes.',
    };
  }
}

/** Returns a function that reports the readiness of the service and the state of its components. */
export function makeHealth(
  store: ClockStore,
  ready: () => Promise<void>,
  origins: () => OriginHealth[],
  lag: (() => MirrorLag) | undefined,
): () => Promise<Readiness> {
  return async () => {
    const storeState = await storeComponent(ready);
    const mirrorStates = lag ? [mirrorComponent(lag())] : [];
    return {
      isReady: storeState.status === 'ok',
      components: [
        storeState,
        await clockComponent(store),
        ...origins().map(originComponent),
        ...mirrorStates,
      ],
    };
  };
}
