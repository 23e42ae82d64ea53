import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Calls back when an element first comes into view. Returns the reference to give to it. */
export function useSeen<T extends Element>(act: () => void): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting !== true) return;
      observer.disconnect();
      act();
    });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return element;
}
