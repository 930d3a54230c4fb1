/** Collects shutdown steps, and runs them in reverse order. */
export function makeShutdown() {
  const stops: (() => Promise<void>)[] = [];
  return {
    push: (stop: () => Promise<void>) => void stops.push(stop),
    async all(): Promise<void> {
      for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
    },
  };
}

export type ShutdownSteps = ReturnType<typeof makeShutdown>;
