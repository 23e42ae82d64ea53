import { useCallback, useEffect, useState } from 'preact/hooks';

/** Something asked of the service: not yet there, there, or failed. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

/** Asks for something when shown and when what it depends on changes; what is no longer wanted is aborted, and its answer dropped. */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>, depends: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ readonly value: T | undefined; readonly error: unknown }>({
    value: undefined,
    error: undefined,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const wanted = new AbortController();
    const { signal } = wanted;
    ask(signal).then(
      (value) => signal.aborted || setState({ value, error: undefined }),
      (error: unknown) => signal.aborted || setState({ value: undefined, error }),
    );
    return () => wanted.abort();
  }, [...depends, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, reload };
}
