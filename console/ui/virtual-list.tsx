import { effect, type ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Browsers lay nothing out below some 17 million pixels; beyond this height the list scrolls in larger steps. */
const maxHeight = 8_000_000;
/** The rows that exist beyond either edge; the list is rendered again after it was scrolled by half as many. */
const overscan = 8;

interface Props {
  readonly count: number;
  /** The height of every row, in pixels. */
  readonly rowHeight: number;
  readonly row: (index: number) => ComponentChildren;
  /** The row to keep in view; negative: none. */
  readonly reveal: ReadonlySignal<number>;
  /** The scroll position in pixels to begin at, as far as there are rows; it is kept up to date. */
  readonly place: { top: number };
  /** Called with the rows shown. */
  readonly onShown: (first: number, last: number) => void;
}

/** The visible part of a list: its scroll position and height. */
interface View {
  readonly top: number;
  readonly height: number;
}

/** Returns the height of a list in the page, and the number of its pixels for each pixel of the page. */
function scaleOf(
  count: number,
  rowHeight: number,
  viewHeight: number,
): { readonly height: number; readonly ratio: number } {
  const whole = count * rowHeight;
  const height = Math.min(whole, maxHeight);
  return { height, ratio: height === whole ? 1 : (whole - viewHeight) / Math.max(height - viewHeight, 1) };
}

/** A list of any length, of which only the rows in view exist. */
export function VirtualList({ count, rowHeight, row, reveal, place, onShown }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ top: 0, height: 600 });
  const { height, ratio } = scaleOf(count, rowHeight, view.height);
  const offset = view.top * ratio;
  const first = Math.max(0, Math.floor(offset / rowHeight) - overscan);
  const last = Math.min(count - 1, Math.ceil((offset + view.height) / rowHeight) + overscan);
  const latest = useRef({ count, rowHeight, place });
  latest.current = { count, rowHeight, place };
  /** The position to go to once there are enough rows. */
  const wanted = useRef(place.top);

  const measure = useCallback((): void => {
    const { scrollTop, clientHeight } = box.current!;
    if (wanted.current === 0) latest.current.place.top = scrollTop;
    const { ratio: now } = scaleOf(latest.current.count, latest.current.rowHeight, clientHeight);
    // Rows of a list that is not scaled stay where they are while it scrolls.
    const step = now === 1 ? (latest.current.rowHeight * overscan) / 2 : 1;
    const top = Math.floor(scrollTop / step) * step;
    setView((before) =>
      before.top === top && before.height === clientHeight ? before : { top, height: clientHeight },
    );
  }, []);

  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);

  // Before the browser says that it scrolled, since there are fewer rows or others.
  useLayoutEffect(() => {
    if (count === 0) wanted.current = place.top;
    if (wanted.current === 0) return;
    const element = box.current!;
    element.scrollTop = wanted.current;
    if (element.scrollTop >= wanted.current - 1) wanted.current = 0;
    measure();
  }, [count, place]);

  // Only when the row to show changes: the user may scroll away from it.
  useLayoutEffect(
    () =>
      effect(() => {
        if (reveal.value < 0) return;
        const element = box.current!;
        const { clientHeight, scrollTop } = element;
        const { ratio: now } = scaleOf(latest.current.count, rowHeight, clientHeight);
        const top = reveal.value * rowHeight;
        const isAbove = top < scrollTop * now;
        if (!isAbove && top + rowHeight <= scrollTop * now + clientHeight) return;
        element.scrollTop = (isAbove ? top : top + rowHeight - clientHeight) / now;
        // Before the browser says that it scrolled: rows that go out of view are not rendered first.
        measure();
      }),
    [reveal, rowHeight],
  );

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
