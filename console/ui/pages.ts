import { useState } from 'preact/hooks';
import { useLoaded } from './loaded.ts';
import { attempt } from './notices.tsx';

/** A list that comes in pages, as far as it was asked for. */
export interface Paged<Page> {
  readonly pages: readonly Page[];
  /** False: not even the first page is there. */
  readonly isLoaded: boolean;
  readonly error: unknown;
  readonly reload: () => void;
  /** Asks for another page; undefined: there is none, or it is on its way. */
  readonly more: (() => void) | undefined;
  readonly isBusy: boolean;
}

/** Asks for the first page of a list when shown and when what it depends on changes, and for others when wanted. */
export function usePages<Page extends { readonly next?: string | undefined }>(
  ask: (after: string | undefined, signal?: AbortSignal) => Promise<Page>,
  depends: readonly unknown[],
): Paged<Page> {
  const { value: first, error, reload } = useLoaded((signal) => ask(undefined, signal), depends);
  const [further, setFurther] = useState<{ readonly of: Page | undefined; readonly pages: readonly Page[] }>({
    of: undefined,
    pages: [],
  });
  const [isBusy, setBusy] = useState(false);
  // Those after another first page are of a list that is no longer shown.
  const pages = first === undefined ? [] : [first, ...(further.of === first ? further.pages : [])];
  const next = pages.at(-1)?.next;
  const more = async (): Promise<void> => {
    setBusy(true);
    await attempt(async () => {
      const page = await ask(next);
      setFurther({ of: first, pages: [...pages.slice(1), page] });
    });
    setBusy(false);
  };
  return {
    ...{ pages, isLoaded: first !== undefined, error, reload, isBusy },
    more: next === undefined || isBusy ? undefined : () => void more(),
  };
}
