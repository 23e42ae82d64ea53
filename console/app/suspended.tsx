import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ErrorBox } from '../ui/notices.tsx';

/** A page whose code is loaded when it is shown. */
export function Suspended<P extends object>({
  load,
  props,
}: {
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
}) {
  const [loaded, setLoaded] = useState<{
    readonly load: typeof load;
    readonly Component?: ComponentType<P>;
    readonly error?: unknown;
  }>();
  useEffect(() => {
    let current = true;
    load().then(
      (Component) => current && setLoaded({ load, Component }),
      (error: unknown) => current && setLoaded({ load, error }),
    );
    return () => {
      current = false;
    };
  }, [load]);
  if (loaded?.load !== load) return null;
  if (loaded.Component === undefined) return <ErrorBox error={loaded.error} />;
  const { Component } = loaded;
  return <Component {...props} />;
}
