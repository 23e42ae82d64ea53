import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { Button } from './button.tsx';

/** Tabs, of which one is shown. Arrows go from one to the next. */
export function Tabs<K extends string>({
  tabs,
  current,
  label,
  onChange,
  children,
}: {
  readonly tabs: readonly (readonly [key: K, name: string])[];
  readonly current: K;
  readonly label: string;
  readonly onChange: (key: K) => void;
  readonly children: ComponentChildren;
}) {
  // On a phone, not all tabs fit beside one another.
  useLayoutEffect(() => {
    document.getElementById(`tab-${current}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(([key]) => key === current);
    const [next] = tabs[(at + step + tabs.length) % tabs.length]!;
    onChange(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(([key, name]) => (
          <Button
            key={key}
            role="tab"
            id={`tab-${key}`}
            aria-selected={key === current}
            aria-controls="tab-panel"
            tabIndex={key === current ? 0 : -1}
            onClick={() => onChange(key)}
          >
            {name}
          </Button>
        ))}
      </div>
      <div class="details-body" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${current}`} tabIndex={0}>
        {children}
      </div>
    </>
  );
}
