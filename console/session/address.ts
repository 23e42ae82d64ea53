import { computed, signal, type ReadonlySignal } from '@preact/signals';

/** Views that have addresses. */
export interface Addressed<Route> {
  /** The route of the present address. */
  readonly route: ReadonlySignal<Route>;
  /** Goes to a route; with `replace` without a step in the history. */
  readonly go: (to: Route, options?: { readonly replace?: boolean }) => void;
  /** Follows links within the page without loading it again. Call once. */
  readonly followLinks: () => void;
}

/**
 * Follows the address of the page. Every view has one, so that back, forward, reload and pasted links work.
 * @param parse turns an address into a route. @param addressOf turns a route into an address
 */
export function addressed<Route>(
  parse: (pathname: string, search: string) => Route,
  addressOf: (route: Route) => string,
): Addressed<Route> {
  const here = (): string => `${location.pathname}${location.search}`;
  const address = signal(here());
  addEventListener('popstate', () => (address.value = here()));
  const parsed = (text: string): Route => {
    const url = new URL(text, location.origin);
    return parse(url.pathname, url.search);
  };
  const go: Addressed<Route>['go'] = (to, options = {}) => {
    const next = addressOf(to);
    if (next === address.value) return;
    if (options.replace) history.replaceState(null, '', next);
    else history.pushState(null, '', next);
    address.value = next;
  };
  const followLinks = (): void => {
    document.addEventListener('click', (event) => {
      if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
      const href = link?.getAttribute('href');
      if (!href?.startsWith('/') || href.startsWith('//') || link?.hasAttribute('target')) return;
      event.preventDefault();
      go(parsed(href));
    });
  };
  return { route: computed(() => parsed(address.value)), go, followLinks };
}

/** Decodes a part of an address, which anybody can write. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
