// A registered network for tests: convolutions, a batch norm, a block of its own, dropout.
#pragma once

namespace stoker {

// "test-network:4", registered by the first call. In torch_network_test.cc.
const char* test_network();

}  // namespace stoker
