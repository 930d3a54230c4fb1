/** Answers without the listener, and remembers which answers are still to come. */
export function makeMount(answer: (request: Request) => Response | Promise<Response>) {
  const underWay = new Set<Promise<Response>>();
  return {
    async fetch(request: Request): Promise<Response> {
      const answered = Promise.resolve(answer(request));
      underWay.add(answered);
      return answered.finally(() => underWay.delete(answered));
    },
    idle: async () => void (await Promise.allSettled(underWay)),
  };
}
