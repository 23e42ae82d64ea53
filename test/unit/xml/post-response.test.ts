import { expect, it } from 'vitest';
import { postResponse } from '../../../shared/xml/post-response.ts';
import { golden, namespace } from './golden.ts';

it('PostObject answers where the object is', () => {
  expect(postResponse({ location: 'http://s3.local/b/k%26', bucket: 'b', key: 'k&', etag: 'abc' }, namespace))
    .toBe(golden`
    <PostResponse xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <Location>http://s3.local/b/k%26</Location><Bucket>b</Bucket><Key>k&amp;</Key><ETag>&quot;abc&quot;</ETag>
    </PostResponse>`);
});
