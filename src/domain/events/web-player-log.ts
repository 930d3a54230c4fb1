/** Message of the `log` event that the web player reports first after each start. */
export const webPlayerStarted = 'web player started';

/** Message of the `log` event that follows if the browser runs web pages in one process. */
export const pagesNotIsolated = 'web pages not isolated';
