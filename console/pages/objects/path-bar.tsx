import { useEffect, useRef, useState } from 'preact/hooks';
import type { SearchModel } from './search-model.ts';
import { pathOf, visibleName } from '../../format/names.ts';
import { t } from '../../messages/messages.ts';
import { addressOf, go } from '../../session/router.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';

interface Props {
  readonly bucket: string;
  readonly prefix: string;
  readonly search: SearchModel | undefined;
  readonly onSearch: (text: string) => void;
  readonly onDrop: (event: DragEvent, prefix: string) => void;
}

/** The path of the current folder, which can be typed and is a drop target, and the search. */
export function PathBar({ bucket, prefix, search, onSearch, onDrop }: Props) {
  const [isTyping, setIsTyping] = useState(false);
  const [text, setText] = useState('');
  const searchField = useRef<HTMLInputElement>(null);
  const texts = t.value.objects;
  useEffect(() => {
    if (search === undefined) setText('');
  }, [search]);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, dialog')) return;
      event.preventDefault();
      searchField.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const crumbs = crumbsOf(bucket, prefix);
  return (
    <div class="path-bar">
      <h1 class="visually-hidden">{visibleName(prefix === '' ? bucket : `${bucket}/${prefix}`)}</h1>
      {isTyping ? (
        <PathField bucket={bucket} prefix={prefix} onDone={() => setIsTyping(false)} />
      ) : (
        <nav class="row grow" aria-label={texts.path}>
          <ol class="crumbs">
            {crumbs.map(({ name, prefix: target }, index) => (
              <li key={target}>
                {index > 0 && <Icon name="chevron" />}
                <a
                  href={addressOf({ page: 'objects', bucket, prefix: target })}
                  aria-current={index === crumbs.length - 1 ? 'page' : undefined}
                  onDragOver={(event) => {
                    event.preventDefault();
                    event.stopPropagation();
                    event.currentTarget.classList.add('drop');
                  }}
                  onDragLeave={(event) => event.currentTarget.classList.remove('drop')}
                  onDrop={(event) => {
                    event.preventDefault();
                    event.currentTarget.classList.remove('drop');
                    onDrop(event, target);
                  }}
                >
                  {visibleName(name)}
                </a>
              </li>
            ))}
          </ol>
          <Button class="hide-narrow" icon="rename" tip={texts.editPath} onClick={() => setIsTyping(true)} />
        </nav>
      )}
      <form
        class="filter"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(text.trim());
        }}
      >
        <Icon name="search" />
        <input
          ref={searchField}
          type="search"
          aria-label={texts.search}
          placeholder={texts.search}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            if (event.currentTarget.value === '') onSearch('');
          }}
        />
      </form>
    </div>
  );
}

function crumbsOf(bucket: string, prefix: string): { readonly name: string; readonly prefix: string }[] {
  const segments = prefix.split('/').slice(0, -1);
  const folders = segments.map((name, index) => ({
    name: name || t.value.common.noName,
    prefix: `${segments.slice(0, index + 1).join('/')}/`,
  }));
  return [{ name: bucket, prefix: '' }, ...folders];
}

function PathField({
  bucket,
  prefix,
  onDone,
}: {
  readonly bucket: string;
  readonly prefix: string;
  readonly onDone: () => void;
}) {
  const [path, setPath] = useState(`${bucket}/${prefix}`);
  return (
    <form
      class="grow"
      onSubmit={(event) => {
        event.preventDefault();
        const typed = pathOf(path);
        onDone();
        go({ page: 'objects', bucket: typed.bucket, prefix: typed.path });
      }}
    >
      <input
        aria-label={t.value.objects.path}
        autofocus
        spellcheck={false}
        value={path}
        onInput={(event) => setPath(event.currentTarget.value)}
        onBlur={onDone}
        onKeyDown={(event) => event.key === 'Escape' && onDone()}
        ref={(field) => field?.focus()}
      />
    </form>
  );
}
