import type { Attributes } from '../ports/key-value-table.ts';
import type { Tag } from '../xml/tagging.ts';

/** The tags of a bucket as its document `tagging` keeps them. */
export function taggingOf(tags: readonly Tag[]): Attributes {
  return { tags: tags.map(({ key, value }) => [key, value]) };
}

/** Reads what {@link taggingOf} wrote. */
export function tagsOf({ tags }: Attributes): readonly Tag[] {
  return (tags as readonly (readonly [key: string, value: string])[]).map(([key, value]) => ({ key, value }));
}
