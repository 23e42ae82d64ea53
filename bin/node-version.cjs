'use strict';
// Refuses a Node.js that is too old. Loaded before anything that such versions cannot parse or link, and in syntax that they can.
var version = process.versions.node.split('.').map(Number);
if (version[0] < 20 || (version[0] === 20 && version[1] < 19)) {
  throw new Error('Node.js ' + process.versions.node + ' is too old, 20.19 or newer is needed: https://nodejs.org');
}
