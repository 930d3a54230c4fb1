import { type Clock, iso, isoOrNull } from '../domain/clock.ts';
import { SignageError } from '../domain/error.ts';
import type { OriginHealth } from '../origin/origin.ts';
import type { Store } from '../store/store.ts';
import type { MirrorLag } from './mirror/mirror.ts';

/** How one component of the service fares, as `GET /readyz?verbose` tells it (docs/protocol.md §7). */
interface Component {
  /** `store`, `origin/<name>`, or `mirror`. */
  component: string;
  /** `open`: it failed so often in a row that it is left alone for a while. */
  status: 'ok' | 'failing' | 'open';
  [figure: string]: unknown;
}

export interface Readiness {
  /** Whether the service can take changes: its store can. */
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

/** How long one look at the store answers all who ask. */
const freshMs = 250;

/** Resolves while the store can take changes, else throws `unavailable`. Those who ask at about the same moment share one look: anybody may ask. */
export function makeReadiness(store: Pick<Store, 'ready'>, clock: Clock): () => Promise<void> {
  let look: Promise<void> | undefined;
  let endedMs: number | undefined;
  return () => {
    const isFresh = endedMs === undefined || Math.abs(clock.now() - endedMs) < freshMs;
    if (look && isFresh) return look;
    endedMs = undefined;
    look = store.ready().finally(() => {
      endedMs = clock.now();
    });
    return look;
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
      why: error instanceof SignageError ? error.message : 'It cannot take changes.',
    };
  }
}

/** How the service and its components fare. */
export function makeHealth(
  ready: () => Promise<void>,
  origins: () => OriginHealth[],
  lag: (() => MirrorLag) | undefined,
): () => Promise<Readiness> {
  return async () => {
    const ofStore = await storeComponent(ready);
    const ofMirror = lag ? [mirrorComponent(lag())] : [];
    return {
      isReady: ofStore.status === 'ok',
      components: [ofStore, ...origins().map(originComponent), ...ofMirror],
    };
  };
}
