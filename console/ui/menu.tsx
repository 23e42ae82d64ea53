import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import type { IconName } from './icons.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon: IconName;
  readonly shortcut?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly act: () => void;
}

/** Items in groups, with a line between them. */
export type Menu = readonly (readonly MenuItem[])[];

const open = signal<
  { readonly menu: Menu; readonly label: string; readonly x: number; readonly y: number } | undefined
>(undefined);

/** Opens a menu at a point. */
export function openMenu(menu: Menu, label: string, at: { readonly x: number; readonly y: number }): void {
  open.value = { menu: menu.filter((group) => group.length > 0), label, ...at };
}

/** Opens a menu below the button that was pressed. */
export function openMenuBelow(menu: Menu, label: string, event: Event): void {
  const { left, bottom } = (event.currentTarget as Element).getBoundingClientRect();
  openMenu(menu, label, { x: left, y: bottom + 4 });
}

export const closeMenu = (): void => void (open.value = undefined);

/** Shows the menu that is open. */
export function MenuHost() {
  const element = useRef<HTMLDivElement>(null);
  const present = open.value;
  useEffect(() => {
    const box = element.current;
    if (present === undefined || box === null) return;
    const before = document.activeElement;
    box.showPopover();
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(present.x, innerWidth - width - 4))}px`;
    box.style.top = `${Math.max(4, Math.min(present.y, innerHeight - height - 4))}px`;
    buttons(box)[0]?.focus();
    return () => {
      if (
        before instanceof HTMLElement &&
        (document.activeElement === null || document.activeElement === document.body)
      )
        before.focus();
    };
  }, [present]);
  if (present === undefined) return null;
  return (
    <div
      ref={element}
      popover="auto"
      role="menu"
      aria-label={present.label}
      class="menu"
      onToggle={(event) => event.newState === 'closed' && closeMenu()}
      onKeyDown={(event) => onKey(event, element.current!)}
    >
      {present.menu.map((group, index) => (
        <div role="group" key={index}>
          {group.map((item) => (
            <Button
              key={item.label}
              kind={item.danger ? 'bad' : undefined}
              icon={item.icon}
              role="menuitem"
              disabled={item.disabled === true}
              onClick={() => {
                closeMenu();
                item.act();
              }}
            >
              <span>{item.label}</span>
              {item.shortcut !== undefined && <kbd>{item.shortcut}</kbd>}
            </Button>
          ))}
        </div>
      ))}
    </div>
  );
}

const buttons = (box: Element): HTMLButtonElement[] => [
  ...box.querySelectorAll<HTMLButtonElement>('button:not(:disabled)'),
];

function onKey(event: KeyboardEvent, box: Element): void {
  const all = buttons(box);
  const at = all.indexOf(document.activeElement as HTMLButtonElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    all.at(to % all.length)?.focus();
  } else if (event.key === 'Tab' || event.key === 'Escape') {
    event.preventDefault();
    closeMenu();
  }
  event.stopPropagation();
}
