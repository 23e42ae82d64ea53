import type { ButtonHTMLAttributes } from 'preact';
import { Icon, type IconName } from './icons.tsx';

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'class'> {
  /** A class for the place of the button. */
  readonly class?: string;
  /** `primary` is what most people came for, `quiet` has no frame, and `bad` and `danger` take something away. */
  readonly kind?: 'primary' | 'quiet' | 'bad' | 'danger' | undefined;
  readonly icon?: IconName;
  /** The accessible name, where the text alone says too little, or there is none. */
  readonly label?: string;
  /** The same, and the tooltip. */
  readonly tip?: string;
}

/** A button: an icon, a text, or both. An icon alone is a quiet square, and needs a label or a tip. */
export function Button({ kind, icon, label, tip, class: place, children, ...others }: Props) {
  const looks = children === undefined ? 'quiet square' : kind;
  return (
    <button
      type="button"
      class={[looks, place].filter(Boolean).join(' ') || undefined}
      title={tip}
      aria-label={label ?? tip}
      {...others}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
