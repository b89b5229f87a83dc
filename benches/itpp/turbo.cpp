// IT++'s decoder of the turbo code of TS 25.212: turbo K ITERATIONS EB_N0_DB BLOCKS
// Blocks are created first. Only their decoding is timed: without early stop, on one thread.
// Eb/N0 refers to the true code rate K / (3K + 12).

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <vector>

#include <itpp/itcomm.h>

int main(int count, char** arguments)
{
    if (count != 5) {
        std::cerr << "turbo K ITERATIONS EB_N0_DB BLOCKS\n";
        return 2;
    }
    const int k = std::atoi(arguments[1]), iterations = std::atoi(arguments[2]);
    const double eb_n0 = std::pow(10.0, std::atof(arguments[3]) / 10.0);
    const int blocks = std::atoi(arguments[4]);

    itpp::RNG_reset(1);
    itpp::ivec generators(2);
    generators(0) = 013;
    generators(1) = 015;
    itpp::Turbo_Codec codec;
    codec.set_parameters(generators, generators, 4, itpp::wcdma_turbo_interleaver_sequence(k),
                         iterations, "LOGMAX", 0.75);
    const double n0 = (3.0 * k + 12.0) / k / eb_n0;
    codec.set_awgn_channel_parameters(1.0, n0);

    std::vector<itpp::bvec> sent(blocks);
    std::vector<itpp::vec> received(blocks);
    for (int at = 0; at < blocks; ++at) {
        sent[at] = itpp::randb(k);
        itpp::bvec coded;
        codec.encode(sent[at], coded);
        received[at] = 1.0 - 2.0 * itpp::to_vec(coded) + std::sqrt(n0 / 2.0) * itpp::randn(coded.size());
    }

    int wrong = 0;
    const std::clock_t begin = std::clock();
    for (int at = 0; at < blocks; ++at) {
        itpp::bvec decoded;
        codec.decode(received[at], decoded);
        wrong += decoded != sent[at];
    }
    const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
    std::cout << "mbit_per_s=" << blocks * double(k) / seconds / 1e6 << " blocks=" << blocks
              << " wrong=" << wrong << "\n";
}
