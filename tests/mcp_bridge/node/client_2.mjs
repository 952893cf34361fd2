// The TypeScript SDK that speaks 2026-07-28, in the mode that the test names.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { capabilities, clientInfo, extensions, lookForApps, mode, report, requestInit, studyAndStumble, url } from './journey.mjs';

const pinned = mode === 'auto' || mode === 'legacy' ? mode : { pin: mode };
const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: pinned } });
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
await client.connect(transport);
if (extensions) report(await lookForApps(client));
const seen = { protocol: client.getNegotiatedProtocolVersion(), ...(await studyAndStumble(client)) };
await client.close();
report(seen);
