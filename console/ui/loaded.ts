import { useCallback, useEffect, useState } from 'preact/hooks';

/** Something asked of the service: not yet there, there, or failed. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

/** Asks for something when shown and when what it depends on changes; answers that came too late are dropped. */
export function useLoaded<T>(ask: () => Promise<T>, depends: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ readonly value: T | undefined; readonly error: unknown }>({
    value: undefined,
    error: undefined,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let current = true;
    ask().then(
      (value) => current && setState({ value, error: undefined }),
      (error: unknown) => current && setState({ value: undefined, error }),
    );
    return () => {
      current = false;
    };
  }, [...depends, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, reload };
}
