import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Browsers lay nothing out below some 17 million pixels; beyond this height the list scrolls in larger steps. */
const maxHeight = 8_000_000;
const overscan = 6;

interface Props {
  readonly count: number;
  /** The height of every row, in pixels. */
  readonly rowHeight: number;
  readonly row: (index: number) => ComponentChildren;
  /** The row to keep in view. */
  readonly reveal: number | undefined;
  /** Told which rows are shown. */
  readonly onShown: (first: number, last: number) => void;
}

/** A list of any length, of which only the rows in view exist. */
export function VirtualList({ count, rowHeight, row, reveal, onShown }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const whole = count * rowHeight;
  const height = Math.min(whole, maxHeight);
  const travel = Math.max(height - view.height, 1);
  const ratio = height === whole ? 1 : (whole - view.height) / travel;
  const offset = view.top * ratio;
  const first = Math.max(0, Math.floor(offset / rowHeight) - overscan);
  const last = Math.min(count - 1, Math.ceil((offset + view.height) / rowHeight) + overscan);

  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);

  useLayoutEffect(() => {
    if (reveal === undefined || reveal < 0) return;
    const element = box.current!;
    const top = reveal * rowHeight;
    const now = element.scrollTop * ratio;
    if (top < now) element.scrollTop = top / ratio;
    else if (top + rowHeight > now + element.clientHeight) {
      element.scrollTop = (top + rowHeight - element.clientHeight) / ratio;
    }
    // Only where the row that is to be seen changes: scrolling away from it is free.
  }, [reveal]);

  useLayoutEffect(() => onShown(first, last), [first, last, count]);

  const rows: ComponentChildren[] = [];
  for (let index = first; index <= last; index++) {
    const top = view.top + (index * rowHeight - offset);
    rows.push(
      <div key={index} role="presentation" class="virtual-row" style={{ top: `${top}px`, height: `${rowHeight}px` }}>
        {row(index)}
      </div>,
    );
  }
  return (
    <div ref={box} role="presentation" class="virtual">
      <div role="presentation" class="virtual-space" style={{ height: `${height}px` }}>
        {rows}
      </div>
    </div>
  );
}
